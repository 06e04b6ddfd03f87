"""What everything that makes pods shares: kinds, pod control, revisions, the state of the cluster."""
