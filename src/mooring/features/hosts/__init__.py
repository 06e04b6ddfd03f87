"""Hosts that people own: labelled, claimed by one machine each, made nodes of its pool, and cleaned when it goes."""
