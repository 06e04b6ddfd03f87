"""Names of the API of installations that users and other programs write."""

from __future__ import annotations

from typing import Final

GROUP: Final = "runway.mooring.dev"
API_VERSION: Final = f"{GROUP}/v1alpha1"
FINALIZER: Final = f"{GROUP}/uninstall"
# The words of --controllers.
CONTROLLER_NAME: Final = "installation"
WEBHOOK_SWITCH: Final = "installation-webhook"
