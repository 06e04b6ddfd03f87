"""What the author of a job decides of where its pod lands: the parts of the pod, and where they stand in the job."""

from __future__ import annotations

from typing import Final

__all__ = ["EDITABLE"]

_CONFIG: Final = "/spec/podConfig"
# Both as JSON pointers.
EDITABLE: Final = {
    "/spec/tolerations": f"{_CONFIG}/tolerations",
    "/spec/nodeSelector": f"{_CONFIG}/nodeSelector",
    "/spec/affinity": f"{_CONFIG}/affinity",
    "/spec/containers/0/resources": f"{_CONFIG}/resources",
}
