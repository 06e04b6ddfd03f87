"""Node lifecycle: heartbeats, taints, evictions, pods of nodes that are gone."""
