"""Kubernetes' own conformance tests, on the embedded cluster and on a real control plane with the same nodes."""
