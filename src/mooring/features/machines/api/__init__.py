"""The API of cluster.x-k8s.io as other features may use it: names, conditions, types and kinds; no controller."""
