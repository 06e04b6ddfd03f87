"""What `explain` answers: about pods and workloads, or about a node."""
