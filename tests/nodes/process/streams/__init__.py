"""Streams into pods, drawn and played in virtual time."""
