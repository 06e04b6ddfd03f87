"""Clusters and workloads that are drawn from a seed: plain objects of every kind that placement reads."""
