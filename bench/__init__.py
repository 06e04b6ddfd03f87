"""Measures Mooring against its budgets; `make bench` runs `python -m bench`."""
