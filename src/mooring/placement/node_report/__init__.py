"""One node, asked about by name: what it has free, who holds its devices, what keeps pods off, which pods it gets."""
