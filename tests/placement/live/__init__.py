"""Drawn clusters played on a real control plane, and the same answered by the placement engine."""
