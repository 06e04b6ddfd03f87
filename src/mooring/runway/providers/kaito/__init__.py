"""KAITO: upstream's operator for Workspaces, installed with Helm."""
