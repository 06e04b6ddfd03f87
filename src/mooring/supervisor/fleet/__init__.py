"""Fleets: the objects that an embedded cluster starts with."""
