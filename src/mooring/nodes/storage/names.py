"""The names by which classes, controllers and the process node know what storage is ours.

The process node and the API server of `mooring up` load this module at their start, so it imports nothing.
"""

from __future__ import annotations

from typing import Final

SIMULATED: Final = "mooring.dev/simulated"
LOCAL: Final = "mooring.dev/local"
PROVISIONERS: Final = frozenset({SIMULATED, LOCAL})

PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
LOCAL_VOLUME: Final = "mooring.dev/local-volume"
"""The finalizer of a volume whose folder the process node removes."""
