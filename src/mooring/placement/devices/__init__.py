"""Devices and claims to them: what the scheduler's DynamicResources plugin decides, for any state of a cluster."""
