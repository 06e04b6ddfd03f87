"""Notebook validation: a notebook runs in a pod on the nodes that fit, and is compared with a golden one."""
