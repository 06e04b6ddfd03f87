"""What of an answer about a Workspace is compared with upstream's, field by field.

Absent, null, {} and [] are one thing, but for an emptyDir. Command lines are compared with every run of flags sorted,
affinity terms by key, NodeClaims without their names. Texts for people are not compared: ours say more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

Fields = dict[str, Any]

TEXTS = frozenset({"messages", "errorText", "stage", "events", "revision", "nodeChanges"})


def compared(operation: str, answer: Any) -> Fields:
    """The fields of an answer, as plain JSON."""
    found = _FIELDS[operation](answer)
    plain: Fields = json.loads(json.dumps({name: value for name, value in found.items() if name not in TEXTS}))
    return plain


def _admission(answer: Any) -> Fields:
    obj = answer.get("object") or {}
    return {
        "allowed": answer.get("allowed"),
        "paths": sorted({each["path"] for each in answer.get("errors") or ()}),
        "warnings": sorted(answer.get("warnings") or ()),
        "unknownFields": sorted(answer.get("unknownFields") or ()),
        "defaulted": _clean({part: obj.get(part) for part in ("resource", "inference", "tuning", "spec")}),
    }


def _estimate(answer: Any) -> Fields:
    return {"nodes": answer.get("nodes"), "error": "error" in answer, "model": answer.get("model")}


def _rendering(answer: Any) -> Fields:
    created = answer.get("created") or ()
    found: Fields = {"kinds": _kinds(created), "deleted": sorted(answer.get("deleted") or ())}
    for each in created:
        if each["kind"] == "StatefulSet":
            found |= _workload(each)
    for kind, name in (("Service", "services"), ("NodePool", "nodepools")):
        found[name] = {
            each["metadata"]["name"]: [_metadata(each), _clean(each.get("spec") or {})]
            for each in created
            if each["kind"] == kind
        }
    found["nodeclaims"] = sorted(_anonymous(each) for each in created if each["kind"] == "NodeClaim")
    return found | _state(answer)


def _steps(answer: Any) -> Fields:
    found: dict[str, list[Any]] = {}
    for step in answer.get("steps") or ():
        state = _state(step) | {
            "kinds": _kinds(step.get("created") or ()),
            "deleted": sorted(step.get("deleted") or ()),
        }
        for name, value in state.items():
            found.setdefault(name, []).append(value)
    return dict(found)


def _state(answer: Any) -> Fields:
    status = answer.get("status") or {}
    conditions = status.get("conditions") or ()
    return {
        "error": "error" in answer,
        "conditions": {each["type"]: (each["status"], each["reason"]) for each in conditions},
        "state": status.get("state"),
        "target": status.get("targetNodeCount") or 0,
        "workerNodes": status.get("workerNodes") or [],
        "performance": _clean(status.get("performance") or {}),
    }


_FIELDS = {"admit": _admission, "estimate": _estimate, "render": _rendering, "status": _steps}


def _workload(obj: Any) -> Fields:
    template = obj["spec"]["template"]
    pod = template.get("spec") or {}
    containers = pod.get("containers") or ()
    apart = ("containers", "initContainers", "affinity", "tolerations", "volumes")
    spec = {k: v for k, v in obj["spec"].items() if k not in ("template", "volumeClaimTemplates", "replicas")}
    return {
        "workload": [obj["kind"], _metadata(obj), _clean(spec)],
        "replicas": obj["spec"].get("replicas"),
        "podLabels": _clean(template.get("metadata") or {}),
        "image": [(each["name"], each.get("image")) for each in containers],
        "command": [_lines(each.get("command")) + _lines(each.get("args")) for each in containers],
        "env": [_by(each.get("env"), "name") for each in containers],
        "ports": [sorted(_text(port) for port in each.get("ports") or ()) for each in containers],
        "resources": [_clean(each.get("resources") or {}) for each in containers],
        "probes": [_probes(each) for each in containers],
        "mounts": [_by(each.get("volumeMounts"), "mountPath") for each in containers],
        "volumes": _by(pod.get("volumes"), "name"),
        "initContainers": [
            _clean(each) | {"command": _lines(each.get("command"))} for each in pod.get("initContainers") or ()
        ],
        "affinity": _affinity(pod),
        "tolerations": sorted(_text(each) for each in pod.get("tolerations") or ()),
        "volumeClaims": [
            _clean({"meta": _metadata(each), "spec": each.get("spec")})
            for each in obj["spec"].get("volumeClaimTemplates") or ()
        ],
        "podRest": _clean({name: value for name, value in pod.items() if name not in apart}),
    }


def _probes(container: Any) -> Any:
    found = {}
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container.get(name)
        if probe and "exec" in probe:
            probe = {**probe, "exec": {"command": _lines(probe["exec"]["command"])}}
        found[name] = probe
    return _clean(found)


def _affinity(pod: Any) -> Any:
    found = json.loads(json.dumps(pod.get("affinity") or {}))
    required = (found.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        term["matchExpressions"] = sorted(term.get("matchExpressions") or (), key=lambda each: str(each["key"]))
    return _clean(found)


def _kinds(created: Iterable[Any]) -> list[tuple[str, int]]:
    return sorted(Counter(each["kind"] for each in created if each["kind"] != "ControllerRevision").items())


def _anonymous(obj: Any) -> str:
    named = {name: value for name, value in _metadata(obj).items() if name != "name"}
    return _text({"meta": named, "spec": obj.get("spec")})


def _metadata(obj: Any) -> Any:
    metadata = obj.get("metadata") or {}
    owners = [{k: v for k, v in each.items() if k != "uid"} for each in metadata.get("ownerReferences") or ()]
    parts = {name: metadata.get(name) for name in ("name", "namespace", "labels", "annotations")}
    return _clean({**parts, "owners": owners})


def _by(items: Any, key: str) -> Any:
    return {each.get(key): _clean(each) for each in items or ()}


def _text(value: Any) -> str:
    return json.dumps(_clean(value), sort_keys=True)


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        found = {name: _clean(part) for name, part in value.items()}
        return {
            name: part
            for name, part in found.items()
            if part is not None and (part not in ({}, []) or name == "emptyDir")
        }
    return [_clean(part) for part in value] if isinstance(value, list) else value


def _lines(command: Any) -> list[str]:
    return [_sorted_flags(line) if " --" in line else line for line in command or ()]


def _sorted_flags(line: str) -> str:
    """A shell line with every run of flags sorted: upstream writes them in the order of a Go map."""
    sorted_words: list[str] = []
    run: list[str] = []
    for word in _words(line):
        is_flag = word.startswith("--")
        if is_flag:
            run.append(word.removesuffix(";"))
        if run and (not is_flag or word.endswith(";")):
            sorted_words += sorted(run)
            run = []
            if word.endswith(";") and is_flag:
                sorted_words[-1] += ";"
        if not is_flag:
            sorted_words.append(word)
    return " ".join(sorted_words + sorted(run))


def _words(line: str) -> Iterable[str]:
    """Words at spaces that are not quoted."""
    word, quoted = "", False
    for char in line:
        quoted = quoted is not (char == "'")
        if char == " " and not quoted:
            yield word
            word = ""
        else:
            word += char
    yield word
