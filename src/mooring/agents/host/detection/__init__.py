"""What the agent finds out about its machine before it registers it."""
