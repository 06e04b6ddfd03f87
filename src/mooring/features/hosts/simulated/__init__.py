"""Hosts without an agent, as the embedded cluster plays them."""
