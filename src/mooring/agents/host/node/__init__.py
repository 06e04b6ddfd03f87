"""What makes a machine a node: programs, their configuration, and the join."""
