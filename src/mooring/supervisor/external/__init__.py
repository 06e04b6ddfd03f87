"""Mooring's controllers and webhooks beside a cluster of its own control plane."""
