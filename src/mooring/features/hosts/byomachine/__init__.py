"""ByoMachines: which host each claims, what the claim brings to the host, and how the host is released."""
