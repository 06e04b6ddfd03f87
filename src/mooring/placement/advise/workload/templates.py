"""Changes in several templates of one workload: leaders and workers that are kept off by the same thing."""

from __future__ import annotations

import msgspec

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, Edit
from mooring.placement.advise.pointers import resolve
from mooring.placement.advise.search import Search
from mooring.placement.advise.sets import joined

_IN_BOTH = " in both templates"


def of_template(advice: Advice, target: str) -> Advice:
    """Advice for a pod of another template: its edits are those of that template."""
    return msgspec.structs.replace(
        advice,
        edits=tuple(
            msgspec.structs.replace(edit, target=target) if edit.target == "pod" else edit for edit in advice.edits
        ),
    )


def in_template(search: Search, advice: Advice, pod: Object, template: str) -> Advice | None:
    """The advice with each change of the pod made in another template too; None where that has nothing to change."""
    parts = [_in_both(part, pod, f"pod/{template}") for part in advice.parts or (advice,)]
    if not any(part.title.endswith(_IN_BOTH) for part in parts):
        return None
    joint = joined(search, tuple(parts))
    return msgspec.structs.replace(
        joint, nodes=advice.nodes, node_count=advice.node_count, parts=advice.parts and joint.parts
    )


def _in_both(part: Advice, pod: Object, target: str) -> Advice:
    if any(edit.target == target for edit in part.edits):
        return part
    edits = [edit for edit in part.edits if edit.target == "pod"]
    if not edits or not all(_applies(edit, pod) for edit in edits):
        return part
    others = [msgspec.structs.replace(edit, target=target) for edit in edits]
    return msgspec.structs.replace(part, title=f"{part.title}{_IN_BOTH}", edits=(*part.edits, *others))


def _applies(edit: Edit, pod: Object) -> bool:
    """Whether a pod of the other template says the same where it is edited."""
    return edit.path.endswith("/-") or resolve(pod, edit.path) == edit.before
