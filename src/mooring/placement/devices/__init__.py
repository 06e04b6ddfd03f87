"""Devices and claims to them: what the scheduler's DynamicResources plugin decides, on any picture of a cluster."""
