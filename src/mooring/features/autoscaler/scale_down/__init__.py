"""Which nodes are not needed, whether their pods can go elsewhere, and how many may go at once."""
