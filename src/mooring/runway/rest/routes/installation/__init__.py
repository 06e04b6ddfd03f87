"""Installations by request: of providers and of the GPU Operator, and the definitions that they leave behind."""
