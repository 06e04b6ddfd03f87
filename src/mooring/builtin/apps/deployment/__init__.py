"""Deployments: rollouts of ReplicaSets."""
