"""Who sends a request: tokens, certificates, and the users that they stand for."""
