"""What the API fills in where a core object says nothing."""
