"""What goes into a container and comes out of it: standard streams, terminals, commands inside."""
