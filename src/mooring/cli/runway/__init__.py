"""The commands of runway: models deployed, listed and deleted, providers, and what a cluster has free."""
