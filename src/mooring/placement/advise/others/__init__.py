"""Pods of others that are in the way, and what it costs to move them."""
