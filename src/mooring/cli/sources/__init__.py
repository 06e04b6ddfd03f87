"""Where a command reads a cluster from: a live one, or a snapshot."""
