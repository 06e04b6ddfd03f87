"""Endpoints and EndpointSlices: the addresses behind a Service."""
