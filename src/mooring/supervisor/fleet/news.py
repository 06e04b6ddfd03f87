"""What the controllers process tells its parent of the fleet; the parent must not load what brings it in."""

from __future__ import annotations

from typing import Final

__all__ = ["FLEET_IS_IN", "FLEET_IS_REFUSED"]

FLEET_IS_IN: Final = "fleet"
FLEET_IS_REFUSED: Final = "fleet refused"
