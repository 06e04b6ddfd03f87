"""The command and the variables of a container."""
