"""Real Helm with the chart, and with folders of its own instead of the user's."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mooring.kube.objects import Object
from mooring.testing.tools import tool
from scripts.chart.files import CHART

# What charts without a cluster are rendered for.
KUBE_VERSION = "1.35.0"
NAMESPACE = "mooring-system"
RELEASE = "mooring"


class HelmRefused(Exception):
    """What Helm wrote when it failed."""


class Helm:
    def __init__(self, folder: Path, kubeconfig: Path | None = None) -> None:
        self._folder = folder
        self._environment = {f"HELM_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
        self._environment |= {"KUBECONFIG": str(kubeconfig or folder / "none"), "HOME": str(folder)}

    def run(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            [str(tool("helm")), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=self._environment,
        )
        if done.returncode:
            raise HelmRefused(done.stderr)
        return done.stdout

    def values(self, values: Mapping[str, Any]) -> list[str]:
        """Values as arguments."""
        path = self._folder / "values.yaml"
        path.write_text(yaml.safe_dump(dict(values)), encoding="utf-8")
        return ["-f", str(path)]

    def rendered(self, values: Mapping[str, Any]) -> list[Object]:
        """The objects of a release with these values, without a cluster."""
        arguments = ["template", RELEASE, str(CHART), "-n", NAMESPACE, "--kube-version", KUBE_VERSION]
        text = self.run(*arguments, *self.values(values))
        return [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]
