"""Runway, the front door: models deployed by a provider, previewed on the nodes there are, for shell, REST and page alike."""
