"""Requests and responses: bodies, options, forms."""
