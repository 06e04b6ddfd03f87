"""Certificates of hosts: which requests are approved, which are denied, and which are somebody else's business."""
