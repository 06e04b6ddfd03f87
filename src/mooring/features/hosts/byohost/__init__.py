"""ByoHosts: whether they are heard of, whose they are, and what becomes of them when their claim ends."""
