"""Replays what a real API server of v1.35.8 was asked, and holds its answers against the registry's.

A record is one request with the answer to it: `op`, `kind` (apiVersion and kind), `ns`, `name`, `body`, and as they
were needed `sub` (sub-resource), `dry` (dry run), `manager`, `force`, `fv` (fieldValidation), `rv` (the body carries
the current resourceVersion); then `code`, `answer` and `warn` (warnings). Records are in order: those that are no dry
runs make the objects that later ones are about. `skip` marks one that is carried out and not compared.

Left out of the comparison is what no two servers agree on: uids, versions, times, generated names, addresses and ports
that were handed out, the order of errors and of managers, and the values that errors show where the server prints its
own internal types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.registry.admission.stored_only import STORED_ONLY

NOW = datetime(2027, 3, 4, 5, 6, 7, tzinfo=UTC)
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_STAMP = re.compile(r"20(?!26-01-01)\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_GENERATED = re.compile(r"\b([xX]-)[a-z0-9]{5}\b")
_SHOWN = re.compile(r"(?:Invalid|Unsupported|Duplicate) value: (?=[\[{n])")
_PATCHED = re.compile(r'Invalid value: "\{.*\}": ', re.S)
_DIFF = re.compile(r"\n(@@|changed:)[\s\S]*")
_VERSIONS = re.compile(r"in record \(\d+\)")
# Said here and not there.
_OWN_WARNINGS = frozenset(each.warning for each in STORED_ONLY)


def perform(registry: Registry, record: Object) -> tuple[int, Object, list[str]]:
    """Carry out one request."""
    warnings: list[str] = []
    try:
        code, answer = _perform(registry, record, warnings)
    except ApiError as error:
        return error.code, error.status(), warnings
    return code, answer, warnings


def _perform(registry: Registry, record: Object, warnings: list[str]) -> tuple[int, Object]:
    resource = registry.resource(*record["kind"])
    body: Any = record.get("body")
    op, name, sub = record["op"], record["name"], record.get("sub", "")
    namespace, dry = record["ns"] if resource.namespaced else "", bool(record.get("dry"))
    if op == "get":
        return 200, registry.get(resource, namespace, name, subresource=sub if sub == "scale" else "")
    if op == "delete":
        return 200, _delete(registry, record, namespace)
    if sub == "eviction":
        registry.evict(namespace, name, now=NOW, dry_run=dry)
        return 201, _success()
    if sub == "binding":
        metadata = {"name": name, "namespace": namespace, **(body.get("metadata") or {})}
        registry.bind({**body, "metadata": metadata}, now=NOW, dry_run=dry)
        return 201, _success()
    shared: Object = {
        "now": NOW,
        "manager": record.get("manager", "tester"),
        "dry_run": dry,
        "field_validation": record.get("fv", "Warn"),
        "user": "kubernetes-admin",
        "warnings": warnings,
    }
    if op == "create":
        return 201, registry.create(resource, body, namespace=namespace or None, **shared)
    if op == "update":
        return 200, registry.update(resource, _addressed(registry, record, namespace), subresource=sub, **shared)
    force = bool(record.get("force"))
    made = registry.patch(resource, namespace, name, op, body, subresource=sub, force=force, **shared)
    return 201 if op == "apply" and record["code"] == 201 else 200, made


def _success() -> Object:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _delete(registry: Registry, record: Object, namespace: str) -> Object:
    options = record.get("body") or {}
    wanted = options.get("preconditions") or {}
    return registry.delete(
        registry.resource(*record["kind"]),
        namespace,
        record["name"],
        now=NOW,
        grace=options.get("gracePeriodSeconds"),
        propagation=options.get("propagationPolicy"),
        uid=wanted.get("uid"),
        resource_version=wanted.get("resourceVersion"),
        dry_run=bool(record.get("dry")),
    )


def _addressed(registry: Registry, record: Object, namespace: str) -> Any:
    """The body of an update with what a client takes from the URL and from the object it has read."""
    body = record["body"]
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return body
    metadata = {"name": record["name"], **({"namespace": namespace} if namespace else {}), **body["metadata"]}
    if record.get("rv"):
        found = registry.get(registry.resource(*record["kind"]), namespace, record["name"])
        metadata["resourceVersion"] = found["metadata"]["resourceVersion"]
    return {**body, "metadata": metadata}


# Comparing


def differences(record: Object, code: int, answer: Object, warnings: list[str]) -> list[str]:
    """Where an answer is not the recorded one."""
    wanted, found = (_settled(each, record) for each in (record["answer"], answer))
    if record["op"] == "delete" and wanted.get("status") == "Success":
        # What an HTTP server makes of an object that is gone.
        wanted = found
    lines = [] if code == record["code"] else [f"code: {record['code']} there, {code} here: {found.get('message', '')}"]
    lines += _unequal(wanted, found, "")
    told = [each for each in warnings if each not in _OWN_WARNINGS]
    if told != record.get("warn", []):
        lines.append(f"warnings: {record.get('warn', [])} there, {told} here")
    return lines


def _unequal(wanted: Any, found: Any, path: str) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted(wanted.keys() | found.keys()):
            if key not in wanted or key not in found:
                yield f"{path}.{key}: {wanted.get(key, 'absent')} there, {found.get(key, 'absent')} here"
            else:
                yield from _unequal(wanted[key], found[key], f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, pair in enumerate(zip(wanted, found, strict=True)):
            yield from _unequal(*pair, f"{path}[{index}]")
    elif wanted != found or isinstance(wanted, bool) != isinstance(found, bool):
        yield f"{path}: {wanted} there, {found} here"


def _settled(answer: Object, record: Object) -> Object:
    """An answer without what no two servers agree on."""
    made: Object = _without_identity(json.loads(json.dumps(answer)))
    if made.get("kind") == "Status":
        _settle_status(made)
        return made
    if "managedFields" in made.get("metadata", {}):
        made["metadata"]["managedFields"].sort(key=_manager)
    if made.get("kind") == "Service":
        _settle_service(made, record.get("body"))
    if made.get("kind") == "CustomResourceDefinition":
        _settle_definition(made)
    if made.get("kind") == "CertificateSigningRequest":
        made["spec"].pop("groups", None)
    if made.get("kind") == "ResourceQuota":
        _settle_quota(made)
    return made


def _without_identity(value: Any) -> Any:
    if isinstance(value, dict):
        dropped = {"uid", "resourceVersion", "creationTimestamp"} | ({"time"} if "manager" in value else set())
        return {key: _without_identity(item) for key, item in value.items() if key not in dropped}
    if isinstance(value, list):
        return [_without_identity(item) for item in value]
    if isinstance(value, str):
        return _GENERATED.sub(r"\1GENERATED", _STAMP.sub("NOW", _UID.sub("UID", value)))
    return value


def _manager(entry: Object) -> tuple[str, ...]:
    return tuple(entry.get(name, "") for name in ("manager", "operation", "subresource", "apiVersion"))


def _settle_status(status: Object) -> None:
    message = _plain(status.get("message", ""))
    head, bracket, rest = message.partition("is invalid: [")
    if bracket and rest.endswith("]"):
        message = f"{head}{bracket}{', '.join(sorted(rest[:-1].split(', ')))}]"
    # A difference between two objects is shown in each server's own way, and ends the message.
    changed = "\n@@" in status.get("message", "") or "\nchanged:" in status.get("message", "")
    status["message"] = "a difference" if changed else message
    details = status.get("details") or {}
    causes = {json.dumps({**each, "message": _plain(each.get("message", ""))}) for each in details.get("causes", ())}
    if causes:
        details["causes"] = [json.loads(each) for each in sorted(causes)]
    if not details:
        status.pop("details", None)


def _plain(text: str) -> str:
    text = _VERSIONS.sub("in record", _DIFF.sub("", _PATCHED.sub('Invalid value: "{}": ', text)))
    parts, position = [], 0
    for found in _SHOWN.finditer(text):
        if found.start() < position:
            continue
        try:
            _, end = json.JSONDecoder().raw_decode(text, found.end())
        except ValueError:
            continue
        parts += [text[position : found.end()], "{}"]
        position = end
    return "".join([*parts, text[position:]])


def _settle_service(service: Object, body: Any) -> None:
    asked = body.get("spec") if isinstance(body, dict) else None
    asked = asked if isinstance(asked, dict) else {}
    spec = service["spec"]
    if spec.get("clusterIP") not in (None, "", "None", asked.get("clusterIP")):
        spec["clusterIP"], spec["clusterIPs"] = "ADDRESS", ["ADDRESS"]
    numbers = [each.get("nodePort") for each in asked.get("ports") or () if isinstance(each, dict)]
    for port in spec.get("ports", ()):
        if "nodePort" in port and port["nodePort"] not in numbers:
            port["nodePort"] = "PORT"
    if spec.get("healthCheckNodePort") not in (None, asked.get("healthCheckNodePort")):
        spec["healthCheckNodePort"] = "PORT"


def _settle_quota(quota: Object) -> None:
    """What is used is counted at once here; there no controller ran that would have."""
    quota.pop("status", None)
    for each in quota["metadata"].get("managedFields", ()):
        each["fieldsV1"].pop("f:status", None)


def _settle_definition(definition: Object) -> None:
    """A definition is established at once here, and a moment later there."""
    definition.pop("status", None)
    metadata = definition["metadata"]
    kept = [each for each in metadata.pop("managedFields", ()) if each["manager"] != "kube-apiserver"]
    if kept:
        metadata["managedFields"] = kept
