"""Runway, the front door: models deployed by a provider, and previewed on the nodes there are."""
