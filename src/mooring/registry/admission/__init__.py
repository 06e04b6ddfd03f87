"""The admission that an API server has built in, and the chain that calls it."""
