"""One pod on this machine: its state, what is decided on it, and its status."""
