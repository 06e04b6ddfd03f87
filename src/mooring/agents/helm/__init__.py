"""Runs Helm for installations: with the rights of who asked, in a private folder, and with its output on show."""
