"""Which node groups grow, and by how much, for pods that find no node."""
