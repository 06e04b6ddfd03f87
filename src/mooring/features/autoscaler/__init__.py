"""Which pools grow and which nodes go, as the cluster autoscaler decides it."""
