"""Pod templates, which workloads of every group carry: their defaults, and what the API says about them."""

from collections.abc import Mapping
from typing import Any

from mooring.api.core.decoding.decoder import decode_or_refuse
from mooring.api.core.defaults.pods import default_pod_spec, drop_disabled_fields
from mooring.api.core.validation.annotations import check_pod_annotations, check_profile_annotations
from mooring.api.core.validation.meta import check_annotations, check_label_selector, check_labels
from mooring.api.core.validation.pods import check_pod_spec
from mooring.kube.errors import Enum, FieldError, SelectorError, forbidden, invalid, not_supported, required
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict

__all__ = [
    "check_always_running",
    "check_immutable",
    "check_selector",
    "check_template",
    "default_template",
    "matches_template",
]

Errors = list[FieldError]


def default_template(owner: Object) -> None:
    """Default the template of a workload's spec, in place."""
    template = owner.get("template")
    if not isinstance(template, dict):
        template = {}
    metadata = decode_or_refuse("ObjectMeta", template.get("metadata"), "spec.template.metadata")
    spec = default_pod_spec(template.get("spec") or {})
    drop_disabled_fields(spec)
    owner["template"] = {**template, "metadata": metadata, "spec": spec}


def check_template(errors: Errors, template: Object, path: str) -> None:
    """Expects what `default_template` gives."""
    metadata, spec = template["metadata"], template["spec"]
    check_labels(errors, metadata.get("labels"), f"{path}.labels")
    check_annotations(errors, metadata.get("annotations"), f"{path}.annotations")
    annotations = metadata.get("annotations") or {}
    check_pod_annotations(errors, annotations, spec, f"{path}.annotations")
    check_pod_spec(errors, spec, metadata, f"{path}.spec")
    check_profile_annotations(errors, annotations, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template"))


def check_selector(errors: Errors, selector: Object | None, path: str, kind: str) -> None:
    """A selector that must be there and must not match everything."""
    if selector is None:
        errors.append(required(path, ""))
        return
    check_label_selector(errors, selector, path)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path, selector, f"empty selector is invalid for {kind}"))


def matches_template(errors: Errors, selector: Object | None, template: Object, path: str) -> bool:
    """Whether the selector can be read; complains about a template that it does not match."""
    try:
        compiled = selector_from_dict(selector)
    except SelectorError:
        return False
    labels: Mapping[str, str] = template["metadata"].get("labels") or {}
    # No selector at all selects nothing, an empty one everything.
    if selector is None or (not compiled.empty and not compiled.matches(labels)):
        shown = dict(sorted(labels.items())) or None
        detail = "`selector` does not match template `labels`"
        errors.append(invalid(f"{path}.metadata.labels", shown, detail))
    return True


def check_always_running(errors: Errors, template: Object, path: str, kind: str) -> None:
    """Pods that a controller keeps running must restart and must not expire."""
    spec = template["spec"]
    if spec["restartPolicy"] != "Always":
        errors.append(not_supported(f"{path}.spec.restartPolicy", Enum(spec["restartPolicy"]), ("Always",)))
    if "activeDeadlineSeconds" in spec:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{path}.spec.activeDeadlineSeconds", detail))


def check_immutable(errors: Errors, new: Any, old: Any, path: str) -> None:
    if new != old:
        errors.append(invalid(path, new, "field is immutable"))
