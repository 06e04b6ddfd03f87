"""kubectl's own test scripts, played function by function against both homes."""
