"""Executes the cells of a notebook in a real kernel. Only this part needs nbclient and nbformat."""
