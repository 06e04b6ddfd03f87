"""The forty cases of docs/cases: what an expert would sign of each answer, and that its first proposal keeps its word.

`MOORING_UPDATE_GOLDEN=1 pytest tests/cli/test_cases.py`, or `python -m scripts.cases`, writes the pages anew; look at
the difference before keeping it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from mooring.kube.objects import Object
from mooring.kube.patches.operations import json_patch
from mooring.manifests.emit import to_yaml
from mooring.placement.advise import Edit
from mooring.placement.advise.pointers import edited
from scripts.cases import Case, cases, texts

LANDS, CANNOT_LAND, MAY_LAND = 0, 2, 3
CASES = cases()
DISRUPTIVE = ("prioritise", "evict")


class Signed(NamedTuple):
    """What an expert says: how many pods land, what to propose first, how many land then, what nobody may propose."""

    exit_code: int
    landing: int
    proposal: tuple[str, ...] = ()
    brings: int = 0
    nodes: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    says: str = ""


SIGNED = {
    "misspelt-selector-and-taint": Signed(
        CANNOT_LAND, 0, ("replace", "tolerate"), 1, ("h100-1", "h100-2"), DISRUPTIVE, 'to "NVIDIA-H100-80GB-HBM3"'
    ),
    "gpu-present-missing": Signed(CANNOT_LAND, 0, ("drop",), 1, ("gpu-1", "gpu-2"), ("lower",)),
    "affinity-near-miss": Signed(CANNOT_LAND, 0, ("replace",), 2, ("h100-1", "h100-2"), says='from "h100" to "H100"'),
    "image-for-arm": Signed(CANNOT_LAND, 0, ("tolerate",), 2, ("grace-1",), says="if its images are built for it"),
    "preferred-only": Signed(LANDS, 1, says="would be scheduled on l4-1"),
    "node-name-pinned": Signed(CANNOT_LAND, 0, ("drop",), 1, ("h100-1", "h100-2"), says="there is no such node"),
    "toleration-value": Signed(CANNOT_LAND, 0, ("replace",), 2, ("gpu-1", "gpu-2"), says='from "True" to "true"'),
    "cordoned-node": Signed(CANNOT_LAND, 0, ("uncordon",), 1, ("gpu-2",), ("tolerate",)),
    "node-not-ready": Signed(CANNOT_LAND, 0, ("bringBack",), 1, ("gpu-2",), ("tolerate", "untaint")),
    "drained-pool": Signed(CANNOT_LAND, 0, ("uncordon",), 3, ("h100-1", "h100-2", "h100-3"), ("drop", "lower")),
    "daemonset-and-taints": Signed(LANDS, 2, says="h100-1 has nvidia.com/gpu=present:NoSchedule"),
    "other-scheduler": Signed(MAY_LAND, 0, says="what scheduler volcano does with it"),
    "scheduling-gates": Signed(CANNOT_LAND, 0, ("drop",), 1, ("h100-1",), says="the controller that added it"),
    "gpus-in-pieces": Signed(CANNOT_LAND, 0, ("lower",), 1, says="8 nvidia.com/gpu free in all, at most 2 on one node"),
    "resource-name-typo": Signed(CANNOT_LAND, 0, ("replace",), 1, ("gpu-1",), ("drop", "addNode")),
    "mig-profile": Signed(
        CANNOT_LAND, 0, ("addNode", "replace"), 3, says="there are nvidia.com/mig-1g.5gb and nvidia.com/mig-3g.20gb"
    ),
    "memory-over-any-node": Signed(CANNOT_LAND, 0, ("lower",), 1, ("big-1", "big-2"), ("addNode", *DISRUPTIVE)),
    "cpus-in-the-way": Signed(CANNOT_LAND, 0, ("lower",), 1, ("gpu-1",), says="it would go to cpu-1"),
    "ephemeral-storage": Signed(CANNOT_LAND, 0, ("lower",), 1, ("cpu-1", "cpu-2"), ("addNode", *DISRUPTIVE)),
    "init-container": Signed(CANNOT_LAND, 0, ("lower",), 1, ("gpu-1",), DISRUPTIVE, "of init container convert"),
    "runtime-class-overhead": Signed(
        CANNOT_LAND, 0, ("lower",), 1, ("metal-1", "metal-2"), DISRUPTIVE, "RuntimeClass kata adds 500m cpu"
    ),
    "too-many-replicas": Signed(CANNOT_LAND, 5, ("addNode",), 8, says="Lower replicas from 8 to 5"),
    "priority-class": Signed(CANNOT_LAND, 0, ("addNode",), 1, says="Give the pod priorityClassName serving (1000)"),
    "preemption": Signed(LANDS, 1, ("addNode",), 1, never=DISRUPTIVE, says="after 1 pod of lower priority leaves"),
    "disruption-budget": Signed(
        CANNOT_LAND, 0, ("addNode",), 1, says="the disruption budget of default/search-1 does not allow it now"
    ),
    "full-zone": Signed(CANNOT_LAND, 5, ("relax",), 6, ("a-1", "b-1"), DISRUPTIVE),
    "anti-affinity": Signed(CANNOT_LAND, 3, ("relax",), 4, ("gpu-1", "gpu-2", "gpu-3"), DISRUPTIVE),
    "host-port": Signed(CANNOT_LAND, 1, ("replace",), 2, ("gpu-1", "gpu-2")),
    "leader-without-workers": Signed(
        CANNOT_LAND, 1, ("tolerate",), 3, ("h100-2", "h100-3"), DISRUPTIVE, "8 nvidia.com/gpu would be held for nothing"
    ),
    "replica-unique": Signed(CANNOT_LAND, 2, brings=4, never=DISRUPTIVE, says="1 of 2 groups would be scheduled"),
    "workspace-unlabelled": Signed(CANNOT_LAND, 0, says="kubectl label node NAME apps=phi-4"),
    "notebook-job": Signed(CANNOT_LAND, 0, ("tolerate",), 1, ("gpu-1",), DISRUPTIVE, "/spec/podConfig/tolerations"),
    "job-in-waves": Signed(
        CANNOT_LAND, 4, ("addNode",), 8, says="Lower parallelism from 8 to 4, so that it runs in waves"
    ),
    "volume-in-another-zone": Signed(
        CANNOT_LAND, 0, ("addNode",), 1, never=("drop",), says="is reached from topology.kubernetes.io/zone=b only"
    ),
    "claim-without-class": Signed(
        CANNOT_LAND, 0, says="Claim weights asks for StorageClass fast-ssd, which does not exist; there is fast."
    ),
    "csi-limit": Signed(CANNOT_LAND, 0, ("addNode",), 1, never=("drop",), says="ebs.csi.aws.com attaches 2 at most"),
    "storage-not-read": Signed(MAY_LAND, 0, says="claim default/weights is not known"),
    "devices": Signed(CANNOT_LAND, 0, ("addNode", "addSlice"), 1, says="of 1 here that match, none are free"),
    "pool-with-a-free-host": Signed(CANNOT_LAND, 0, brings=1, says="pool gpu-pool from 1 to 2"),
    "pool-at-its-maximum": Signed(CANNOT_LAND, 0, brings=1, says="it is at its maximum of 1"),
}


def signed(case: Case) -> Signed:
    return SIGNED[case.folder.name[3:]]


def test_there_are_forty_cases_and_an_expert_has_signed_each() -> None:
    assert [case.number for case in CASES] == list(range(1, 41))
    assert [case.folder.name[3:] for case in CASES] == list(SIGNED)


def test_the_pages_show_what_the_command_answers() -> None:
    wanted = texts(CASES)
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
    for path, text in wanted.items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name}: run python -m scripts.cases, look at the changes"
        )
    assert {path.name for path in wanted} == {path.name for path in next(iter(wanted)).parent.iterdir()}
    links = re.findall(r"\]\(([^)#]+)", "".join(wanted.values()))
    assert [link for link in links if not (next(iter(wanted)).parent / link).exists()] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_an_expert_would_sign_the_answer(case: Case) -> None:
    wanted, answer = signed(case), Answer(case)
    assert wanted.says in case.explain().stdout
    assert (answer.exit_code, answer.landing) == (wanted.exit_code, wanted.landing)
    if wanted.proposal:
        assert set(answer.first["ops"]) == set(wanted.proposal)
    if wanted.nodes:
        assert tuple(answer.first["nodes"]) == wanted.nodes
    assert answer.promised == wanted.brings
    assert not {op for each in answer.proposals for op in each["ops"]} & set(wanted.never)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_proposals_are_safe(case: Case) -> None:
    """What disrupts comes last and is called so; nothing names a pod that is not there."""
    pods = [each["metadata"] for each in case.objects() if each["kind"] == "Pod"]
    there = {f"{each['namespace']}/{each['name']}" for each in pods}
    disrupts = [any(op in DISRUPTIVE for op in each["ops"]) for each in Answer(case).proposals]
    assert disrupts == sorted(disrupts)
    for each in Answer(case).proposals:
        assert set(each.get("victims", ())) <= there
        assert ("evict" in each["ops"]) == ("isruptive: evict" in each["title"])


@pytest.mark.parametrize("case", [each for each in CASES if signed(each).brings], ids=lambda case: case.title)
def test_the_first_proposal_that_can_be_pasted_keeps_its_word(case: Case, tmp_path: Path) -> None:
    """Its patch is made to the manifest and its edits to the fleet, and then it is asked again."""
    proposal = next(each for each in Answer(case).proposals if can_be_made(each))
    fleet = {each["metadata"]["name"]: each for each in case.objects() if each["kind"] == "Node"}
    others = [each for each in case.objects() if each["kind"] != "Node"]
    for edit in proposal["edits"]:
        kind, _, name = edit["target"].partition("/")
        if kind == "node":
            fleet[name] = edited(fleet[name], [Edit(**edit)])
            fleet[name]["status"].pop("conditions", None)
        elif kind == "cluster":
            made = edit["after"]
            fleet[made["metadata"]["name"]] = {"apiVersion": "v1", "kind": "Node", **made}
        elif kind == "devices":
            others.append({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **edit["after"]})
    (tmp_path / "cluster.yaml").write_text("---\n".join(map(to_yaml, [*fleet.values(), *others])), encoding="utf-8")
    documents = list(yaml.safe_load_all((case.folder / "workload.yaml").read_text(encoding="utf-8")))
    documents[-1] = json_patch(documents[-1], patch_in(proposal["command"]))
    (tmp_path / "workload.yaml").write_text("---\n".join(map(to_yaml, documents)), encoding="utf-8")
    assert Answer(case._replace(folder=tmp_path)).landing == proposal.get("brings", 1), proposal["title"]


class Answer:
    """The answer to a case as data."""

    def __init__(self, case: Case) -> None:
        result = case.explain("-o", "json")
        data = json.loads(result.stdout)
        self.exit_code = result.exit_code
        pods: list[Any] = data.get("pods", [data])
        self.landing = sum(pod["lands"] for pod in pods)
        self.proposals: list[Any] = next((pod["advice"] for pod in pods if pod.get("advice")), [])
        for each in self.proposals:
            each["ops"] = [edit["op"] for edit in each["edits"]]

    @property
    def first(self) -> Any:
        return self.proposals[0]

    @property
    def promised(self) -> int:
        """How many pods land with the first proposal; where only one is asked for, it is that one."""
        found: int = self.first.get("brings", 1) if self.proposals else 0
        return found


def can_be_made(proposal: Any) -> bool:
    """Whether a person can: a pod is edited by a command."""
    return proposal["command"] is not None or all(edit["target"] != "pod" for edit in proposal["edits"])


def patch_in(command: str | None) -> list[Object]:
    """The patch of the manifest in a command, if there is one."""
    words = shlex.split(command or "")
    return [] if "-p" not in words else json.loads(words[words.index("-p") + 1])
