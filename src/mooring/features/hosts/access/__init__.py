"""What the agent of a host may do: with its own ByoHost, and with the Secrets of its claim. Nothing else."""
