"""Watches: events gathered, encoded once, and sent to everyone who follows."""
