"""Volumes and claims on them: which claim has which volume, and what becomes of both."""
