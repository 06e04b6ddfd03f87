"""Machines: from their companions to a Node, and back."""
