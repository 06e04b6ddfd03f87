"""Workspaces as a custom resource. `config/crd/` holds the definition that comes out of it."""

from __future__ import annotations

from typing import Final

from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.features.workspaces.api import GROUP, KIND, PLURAL, Workspace
from mooring.features.workspaces.old_api import OldWorkspace

__all__ = ["WORKSPACES"]


def _condition(kind: str) -> PrinterColumn:
    return PrinterColumn(kind, "string", f'.status.conditions[?(@.type=="{kind}")].status')


_COLUMNS: Final = (
    PrinterColumn("Instance", "string", ".resource.instanceType"),
    *map(_condition, ("ResourceReady", "InferenceReady", "JobStarted", "WorkspaceSucceeded")),
)

WORKSPACES: Final = CustomResource(
    GROUP,
    KIND,
    PLURAL,
    versions=(
        Version("v1alpha1", OldWorkspace, columns=(*_COLUMNS, AGE)),
        Version(
            "v1beta1",
            Workspace,
            columns=(
                *_COLUMNS,
                PrinterColumn("TargetNodeCount", "integer", ".status.targetNodeCount"),
                PrinterColumn("State", "string", ".status.state"),
                AGE,
            ),
            storage=True,
        ),
    ),
    short_names=("wk", "wks"),
    categories=("workspace",),
)
