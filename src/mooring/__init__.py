"""Mooring lands AI workloads on the nodes people already own."""

__version__ = "0.1.0.dev0"
