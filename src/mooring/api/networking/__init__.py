"""networking.k8s.io: Ingresses, their classes, and NetworkPolicies."""
