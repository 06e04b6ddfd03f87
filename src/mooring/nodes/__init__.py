"""What carries pods: simulated nodes, kwok's Stages, and this machine."""
