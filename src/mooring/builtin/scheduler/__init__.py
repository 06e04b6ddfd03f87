"""The scheduler: which waiting pod is tried next, and where it goes."""
