"""What is refused in a job beyond its schema, by the part of the job, with the paths of its own fields."""
