"""Requests that no client should send, drawn from a seed, to which an API server must have an answer."""
