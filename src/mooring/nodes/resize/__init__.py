"""In-place resizes of pods, as every kind of node decides them."""
