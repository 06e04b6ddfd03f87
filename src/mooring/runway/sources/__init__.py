"""Where the state of a cluster is read from, for one answer."""
