"""What acts outside the API on behalf of features: executors of effects, and the agent of a host."""
