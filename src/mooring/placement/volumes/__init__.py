"""Volumes: which nodes can reach what a pod mounts, and what is written when it is bound there."""
