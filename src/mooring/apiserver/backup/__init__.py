"""Backups of a running server: written by it in one consistent piece, checked and read where one is restored."""
