"""Deployments of models: what is asked for, whether it can be, and how far it is."""
