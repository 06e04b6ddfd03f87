"""Why nodes are rejected, in words for people."""
