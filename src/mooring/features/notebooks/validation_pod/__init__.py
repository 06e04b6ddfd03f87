"""The pod that a notebook runs in, and the ConfigMap with what runs there: made from a job alone."""
