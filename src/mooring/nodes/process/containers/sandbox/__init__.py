"""What a container can see and use of this machine."""
