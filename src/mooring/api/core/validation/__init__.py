"""What the API refuses in the kinds of the core group, by the part of the object."""
