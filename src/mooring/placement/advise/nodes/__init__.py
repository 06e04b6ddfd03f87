"""Changes of nodes: open one, label one, add one like it, raise its pool."""
