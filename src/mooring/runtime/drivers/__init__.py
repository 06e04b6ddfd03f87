"""Carries out what the dispatcher hands out: over an API server in real time, or in memory in virtual time."""
