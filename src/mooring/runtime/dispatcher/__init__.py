"""Decides which key runs when and what its decision means as requests: no I/O, no clock."""
