"""authentication.k8s.io: TokenRequests."""
