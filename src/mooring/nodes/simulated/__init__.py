"""Simulated nodes: kubelets without containers."""
