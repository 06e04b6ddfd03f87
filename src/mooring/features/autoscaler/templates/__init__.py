"""The node that a group would get next: from a node that it has, or from what is written on the group."""
