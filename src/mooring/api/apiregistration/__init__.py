"""apiregistration.k8s.io: APIServices, the servers that answer for a group and version."""
