"""Installers: which systems Kubernetes is installed on, the scripts that do it, and the Secrets that hold them."""
