"""admissionregistration.k8s.io: webhook configurations and validating policies."""
