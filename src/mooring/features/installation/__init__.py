"""Installations: what Helm shall have released on a cluster, and how far it is."""
