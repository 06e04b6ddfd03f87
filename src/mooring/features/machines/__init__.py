"""Pools of machines: Clusters, MachineDeployments, MachineSets and Machines of cluster.x-k8s.io."""
