"""Helm's command line, without running it: flags for values, the arguments of its commands, and their text."""
