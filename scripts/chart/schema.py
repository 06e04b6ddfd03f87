"""The schema of the chart's values: Helm refuses what does not fit it, with the field's name."""

from __future__ import annotations

import json
from typing import Any, Final

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.runtime.settings import Setting
from scripts.chart.names import KNOWN

_PORT: Final = {"type": "integer", "minimum": 1, "maximum": 65535}
_FREE: Final = {"type": "object"}
_LIST: Final = {"type": "array", "items": {"type": "object"}}
_BOOLEAN: Final = {"type": "boolean"}
_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
# As the program reads them: 90s, 1h30m, 1.5h.
_DURATION: Final = {"type": "string", "pattern": r"^(\d+(\.\d+)?(ms|s|m|h))+$"}
# The same for what lasts days.
_LIFETIME: Final = {"type": "string", "pattern": r"^(\d{1,5}d)?(\d{1,7}h)?(\d{1,9}m)?(\d{1,9}s)?$", "minLength": 2}
_SERVICE_TYPE: Final = {"type": "string", "enum": ["ClusterIP", "NodePort", "LoadBalancer"]}


def schema() -> Object:
    pods: dict[str, Object] = {"resources": _FREE, "nodeSelector": _TEXTS, "tolerations": _LIST, "affinity": _FREE}
    made = _object(
        image=_object(
            repository={"type": "string", "minLength": 1},
            tag=_TEXT,
            pullPolicy={"type": "string", "enum": ["Always", "IfNotPresent", "Never"]},
        ),
        imagePullSecrets={"type": "array", "items": _object(name={"type": "string", "minLength": 1})},
        replicas={"type": "integer", "minimum": 1},
        controllers={"type": "array", "items": {"type": "string", "enum": _words()}},
        featureGates=_object(**dict.fromkeys(sorted(CATALOG.gates), _BOOLEAN)),
        settings=_object(**{each.name: _setting(each) for each in CATALOG.settings}),
        crds=_object(enabled=_BOOLEAN),
        webhooks=_object(enabled=_BOOLEAN, port=_PORT, certificateLifetime=_LIFETIME),
        serviceAccount=_object(create=_BOOLEAN, name=_TEXT, annotations=_TEXTS),
        metrics=_object(enabled=_BOOLEAN, port=_PORT, annotations=_TEXTS),
        ui=_object(
            enabled=_BOOLEAN,
            replicas={"type": "integer", "minimum": 1},
            port=_PORT,
            service=_object(type=_SERVICE_TYPE, port=_PORT, annotations=_TEXTS),
            allowedHosts={"type": "array", "items": {"type": "string", "minLength": 1}},
            **pods,
        ),
        kaito=_object(version=_TEXT, repository=_TEXT),
        gpuOperator=_object(version=_TEXT, repository=_TEXT),
        priorityClassName=_TEXT,
        **pods,
    )
    # Helm hands these down to every chart.
    made["properties"]["global"] = _FREE
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of the chart mooring", **made}


def schema_text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _words() -> list[str]:
    """Everything that `--controllers` takes."""
    return [*KNOWN, *(f"-{name}" for name in KNOWN), "*", "-*"]


def _setting(setting: Setting[Any]) -> Object:
    if setting.metavar == "TIME":
        return _DURATION
    if "|" in setting.metavar:
        return {"type": "string", "enum": setting.metavar.split("|")}
    return {"type": "string", "minLength": 1}


def _object(**properties: Object) -> Object:
    return {"type": "object", "additionalProperties": False, "properties": properties}
