"""The definition of NodeClaims is upstream's in names, types, defaults and columns, and is not ours to install."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mooring.api.crds.resource import definition
from mooring.catalog import CATALOG
from mooring.features.workspaces.provisioning.definition import NODE_CLAIMS
from mooring.kube.errors import InputError
from mooring.supervisor.selection import select_controllers
from scripts.crds import FOLDER
from tests.features.upstream import differences

UPSTREAM = Path(__file__).parents[4] / "shared/upstream/crds/karpenter.sh_nodeclaims.yaml"
# Labels that karpenter keeps to itself are no matter of ours, and rules for texts on a list say nothing.
NOT_OURS = (
    ".spec.requirements[].key x-kubernetes-validations",
    ".spec.requirements[].values maxLength",
    ".spec.requirements[].values pattern",
)
# Conditions are those of every other kind, which ask for more than karpenter's.
CONDITIONS = ".status.conditions[]"


@pytest.mark.skipif(not UPSTREAM.is_file(), reason="upstream's definition is not here")
def test_node_claims_are_upstreams() -> None:
    theirs = yaml.load(UPSTREAM.read_bytes(), Loader=yaml.CSafeLoader)
    ours = definition(NODE_CLAIMS)
    (mine,), (other,) = ours["spec"]["versions"], theirs["spec"]["versions"]
    found = differences(mine["schema"]["openAPIV3Schema"], other["schema"]["openAPIV3Schema"])
    assert [each for each in found if not each.startswith((CONDITIONS, *NOT_OURS))] == []
    assert mine["subresources"] == other["subresources"]
    assert mine["additionalPrinterColumns"] == other["additionalPrinterColumns"]
    assert ours["spec"]["names"] == theirs["spec"]["names"]
    assert ours["spec"]["scope"] == theirs["spec"]["scope"]


def test_a_list_of_node_claims_shows_their_nodes_and_more_when_it_is_wide() -> None:
    (version,) = definition(NODE_CLAIMS)["spec"]["versions"]
    columns = version["additionalPrinterColumns"]
    narrow = [each["name"] for each in columns if not each.get("priority")]
    assert narrow == ["Type", "Capacity", "Zone", "Node", "Ready", "Age"]
    wide = [each["name"] for each in columns if each.get("priority")]
    assert wide == ["ImageID", "ID", "NodePool", "NodeClass", "Drifted"]


def test_node_claims_are_defined_on_the_embedded_cluster_alone() -> None:
    """On any other cluster the definition is a provisioner's, and may not be overwritten."""
    assert NODE_CLAIMS in CATALOG.resources()
    assert NODE_CLAIMS not in CATALOG.resources(CATALOG.external)
    assert not [path for path in FOLDER.iterdir() if "nodeclaims" in path.name]


def test_nothing_fills_node_claims_on_an_external_cluster() -> None:
    assert "simulated-node-claims" in select_controllers("*")
    assert "simulated-node-claims" not in select_controllers("*", CATALOG.external, external=True)
    with pytest.raises(InputError, match='there is no controller "simulated-node-claims"'):
        select_controllers("simulated-node-claims", CATALOG.external, external=True)
