"""Installation as controllers and webhooks read it."""

from __future__ import annotations

from mooring.api.kinds import Kind
from mooring.features.installation.api.installation import Installation
from mooring.features.installation.api.names import API_VERSION

INSTALLATION = Kind(API_VERSION, "Installation", Installation, optional=True)
