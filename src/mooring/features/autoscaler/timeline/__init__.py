"""What happened in the pools over time, from events, conditions and the log of decisions."""
