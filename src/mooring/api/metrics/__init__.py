"""metrics.k8s.io: what pods and nodes use, as it is served, and as it is said of those that are simulated."""
