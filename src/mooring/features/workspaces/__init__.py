"""Workspaces: a model on nodes that are chosen by label."""
