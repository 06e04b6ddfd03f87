"""Changes of the pod itself: what it asks of nodes, neighbours and its own resources."""
