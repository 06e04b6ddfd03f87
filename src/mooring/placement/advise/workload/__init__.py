"""The whole workload: what a change brings to all of its pods, its templates and its size."""
