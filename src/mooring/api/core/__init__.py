"""The core API group (v1): pods and nodes as Kubernetes defaults and validates them."""
