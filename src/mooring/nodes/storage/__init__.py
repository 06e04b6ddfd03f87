"""Storage for the nodes of this package: volumes that are simulated, and folders of the process node."""
