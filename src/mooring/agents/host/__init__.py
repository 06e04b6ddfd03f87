"""The agent of one host: it registers the host, turns a claim into a node, and leaves nothing when released."""
