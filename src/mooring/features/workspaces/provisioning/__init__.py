"""NodeClaims: the kind by which nodes are asked for, and simulated nodes that come of it on the embedded cluster."""
