"""Drawn expressions, definitions, applies and values, and what a real API server says to them."""
