"""The words of `controllers` for templates, which choose roles and definitions by them."""

from __future__ import annotations

from mooring.catalog import CATALOG
from mooring.supervisor.external.webhooks import CERTIFICATE_SECRET
from scripts.chart.text import header

KNOWN = tuple(name for name in CATALOG.names if name not in CATALOG.embedded_only)


def _switches(phase: str) -> str:
    return ",".join(dict.fromkeys(each.switch for each in CATALOG.webhooks() if each.phase == phase))


def names_text(command: str) -> str:
    defined = {
        "known": ",".join(KNOWN),
        "usual": ",".join(CATALOG.external),
        "webhooks": ",".join(CATALOG.webhook_names),
        "mutating": _switches("mutating"),
        "validating": _switches("validating"),
        "workloadSettings": ",".join(setting.name for setting in CATALOG.workload_settings),
        "certificateSecret": CERTIFICATE_SECRET,
    }
    parts = [f'{{{{- define "mooring.names.{name}" -}}}}{text}{{{{- end }}}}\n' for name, text in defined.items()]
    return header(command) + "".join(parts)
