"""Clusters and workloads that are drawn from a seed: plain objects that the API accepts, of every kind placement reads."""
