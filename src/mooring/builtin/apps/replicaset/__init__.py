"""ReplicaSets: as many pods of one template as the spec says."""
