"""YAML within templates: dumped whole, with Helm's own braces escaped and actions put in afterwards."""

from __future__ import annotations

from typing import Any, Final

import yaml

from scripts.made import WholeDumper

LABELS: Final = '    {{- include "mooring.labels" . | nindent 4 }}\n'


def dumped(what: Any) -> str:
    text = yaml.dump(what, Dumper=WholeDumper, sort_keys=False, width=118)
    return text.replace("{{", '{{ "{{" }}')


def header(command: str) -> str:
    return f"{{{{- /* Made by {command} from what features declare. */}}}}\n"
