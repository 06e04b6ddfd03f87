"""Every feature under faults drawn from a seed, as often as one likes."""
