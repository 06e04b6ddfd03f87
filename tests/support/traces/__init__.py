"""Traces: everything that controllers write in a story that is played in virtual time, as text that is kept."""
