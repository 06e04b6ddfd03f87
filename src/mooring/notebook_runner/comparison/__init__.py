"""Compares an executed notebook with a golden one. Pure: notebooks in, differences out."""
