"""The services of a node, containerd and kubelet: systemd's where it runs, the agent's own otherwise."""
