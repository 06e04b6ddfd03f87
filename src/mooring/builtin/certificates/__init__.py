"""Requests for certificates: approved, signed and cleaned up as kube-controller-manager does it."""
