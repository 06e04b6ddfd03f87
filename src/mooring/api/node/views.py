"""RuntimeClasses, as those read them who ask what becomes of a pod that names one."""

from __future__ import annotations

from typing import Any

from mooring.api.core.types import ObjectMeta, View


class RuntimeClass(View, frozen=True):
    """What admission takes from a class; it works on plain objects."""

    metadata: ObjectMeta = ObjectMeta()
    overhead: dict[str, Any] | None = None
    scheduling: dict[str, Any] | None = None
