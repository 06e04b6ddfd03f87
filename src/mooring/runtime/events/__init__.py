"""Events for people, from a decision to the API."""
