"""What an agent is told on its command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from mooring.agents.host.root_folder import RootFolder
from mooring.kube.errors import InputError
from mooring.kube.names import is_label_value, is_qualified_name

__all__ = ["AgentSettings", "parse_labels"]

HEARTBEAT_INTERVAL: Final = timedelta(seconds=30)
SCRIPT_TIMEOUT: Final = timedelta(minutes=20)
JOIN_TIMEOUT: Final = timedelta(minutes=5)


@dataclass(frozen=True)
class AgentSettings:
    """`name` is that of the host and of its Node. Without `pod_cidr` the cluster brings the network of pods."""

    name: str
    namespace: str
    root: RootFolder
    download_path: Path
    labels: Mapping[str, str] = field(default_factory=dict)
    skip_installation: bool = False
    pod_cidr: str = ""
    sandbox_image: str = ""
    systemd: bool = False
    heartbeat_interval: timedelta = HEARTBEAT_INTERVAL
    script_timeout: timedelta = SCRIPT_TIMEOUT
    join_timeout: timedelta = JOIN_TIMEOUT


def parse_labels(texts: tuple[str, ...]) -> dict[str, str]:
    """Labels as key=value, several with commas between them; the last of one key counts."""
    found = {}
    for part in ",".join(texts).split(","):
        if not part.strip():
            continue
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(f'--label "{part.strip()}" has no "="; write key=value')
        if problems := is_qualified_name(key) or is_label_value(value):
            raise InputError(f'--label "{part.strip()}": {problems[0]}')
        found[key] = value
    return found
