"""The pods that a command is asked about, and the objects that they come from."""
