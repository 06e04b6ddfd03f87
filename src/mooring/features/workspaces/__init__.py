"""Workspaces: a model on nodes that are chosen by label. No feature declares them yet, so that nothing serves them."""
