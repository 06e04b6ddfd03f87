"""Pools: MachineDeployments and the MachineSets that they roll from one template to the next."""
