"""The API of hosts, infrastructure.cluster.x-k8s.io/v1beta1. Other features and agents import this package alone."""
