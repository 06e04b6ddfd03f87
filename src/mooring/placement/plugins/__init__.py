"""What each scheduler plugin asks of nodes and pods, over all nodes at once."""
