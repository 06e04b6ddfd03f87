"""The product as its users have it: real processes, real servers."""
