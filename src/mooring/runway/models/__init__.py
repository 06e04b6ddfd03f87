"""The models that can be deployed by name, and the GPUs that each needs."""
