"""Requests for certificates that are drawn: who asks, for whom, in which cluster, and the verdict as recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any, Final

from mooring.api.certificates.x509_requests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING
from mooring.api.kinds import Key
from mooring.features.hosts.api.names import AGENT
from mooring.features.hosts.approval.controller import CONTROLLER, reconcile
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.views import NOON, view_of
from tests.builtin.certificates.requests import pem, signing_request
from tests.features.hosts.approval.test_judgement import CLIENT_USAGES, KINDS, SERVING, config, host
from tests.support.golden import same_as_recorded

CASES: Final = 1200
NAMES: Final[tuple[Mapping[str, Any], ...]] = (
    {},
    {"dns": ("node10",)},
    {"dns": ("node11",)},
    {"dns": ("localhost",)},
    {"ips": ("10.0.0.10",)},
    {"ips": ("10.0.0.11",)},
    {"ips": ("127.0.0.1",)},
    {"dns": ("node10",), "ips": ("10.0.0.10", "10.0.0.12")},
    {"emails": ("a@example.com",)},
    {"uris": ("spiffe://example.com/a",)},
)
SUBJECTS: Final = ("system:node:node10", "system:node:node11", "byoh:host:node10", "byoh:host:node11", "ada")
ORGANIZATIONS: Final = (("system:nodes",), ("byoh:hosts",), ("byoh:hosts", "system:masters"), ())
TOKENS: Final = ("system:bootstrappers", "system:bootstrappers:byoh")
USERS: Final = (
    ("system:bootstrap:abcdef", TOKENS),
    ("system:bootstrap:other1", TOKENS),
    ("system:bootstrap:abcdef", TOKENS[:1]),
    ("system:node:node10", ("system:nodes",)),
    ("system:node:node11", ("system:nodes",)),
    ("system:node:node10", ()),
    ("byoh:host:node10", ("byoh:hosts",)),
    ("byoh:host:node11", ("byoh:hosts",)),
    ("ada", TOKENS),
    ("ada", ()),
)
SIGNERS: Final = ((KUBELET_CLIENT, CLIENT_USAGES), (KUBELET_SERVING, SERVING), (CLIENT, CLIENT_USAGES))
REQUESTS: Final = ("byoh-csr-node10", "byoh-csr-node10-2", "byoh-csr-node101", "byoh-csr-node11", "csr")
HEALTH: Final[tuple[Mapping[str, Any], ...]] = ({}, {"conditions": [{"type": "HostHealthy", "status": "True"}]})
_pem = cache(pem)


def drawn_request(dice: Random) -> Object:
    signer, usages = dice.choice(SIGNERS)
    by_signer = {KUBELET_CLIENT: (0, 0, NAMES[:1]), KUBELET_SERVING: (0, 0, NAMES[1:8]), CLIENT: (2, 1, NAMES[:1])}
    subject, organizations, names = by_signer[signer]
    subjects = SUBJECTS[subject : subject + 2]
    likely = dice.random() < 0.85
    asked = _pem(
        dice.choice(subjects if likely else SUBJECTS),
        ORGANIZATIONS[organizations] if likely else dice.choice(ORGANIZATIONS),
        **dice.choice(names if likely else NAMES),
    )
    usual = {KUBELET_CLIENT: USERS[:4], KUBELET_SERVING: USERS[3:5], CLIENT: (USERS[0], USERS[6], USERS[7])}[signer]
    user, groups = dice.choice(usual if likely else USERS)
    return signing_request(asked, signer, usages, name=dice.choice(REQUESTS), username=user, groups=list(groups))


def drawn_cluster(dice: Random) -> list[Object]:
    found: list[Object] = []
    for number in (10, 11):
        if dice.random() < 0.8:
            claim = dice.choice((f"m{number - 9}", f"m{number - 9}", ""))
            made = host(
                f"node{number}", claim=claim, address=f"10.0.0.{dice.choice((10, number))}", **dice.choice(HEALTH)
            )
            if dice.random() < 0.5:
                made["metadata"]["annotations"] = {AGENT: "1.0"}
            found.append(made)
    for name, token in (("m1", "abcdef"), ("m2", "other1")):
        if dice.random() < 0.8:
            made = config(name, token, of_machine=dice.random() < 0.8)
            if dice.random() < 0.2:
                made["spec"] = {"apiserver": f"https://10.0.0.{dice.choice((10, 11))}:6443"}
            found.append(made)
    if dice.random() < 0.4:
        there = node(dice.choice(("node10", "other")))
        there["status"]["addresses"] = [{"type": "InternalIP", "address": "10.0.0.10"}]
        found.append(there)
    return found


def verdict(request: Object, objects: list[Object]) -> str:
    view = view_of([request, *objects], kinds=KINDS, indexers=CONTROLLER.indexers)
    decision = reconcile(Key("", request["metadata"]["name"]), view, NOON)
    return json.dumps([write.body["status"]["conditions"] for write in decision.status], sort_keys=True)  # type: ignore[union-attr]


def test_every_drawn_request_is_judged_as_recorded() -> None:
    found = {}
    for number in range(CASES):
        dice = Random(f"requests/{number}")
        found[str(number)] = verdict(drawn_request(dice), drawn_cluster(dice))
    same_as_recorded("hosts-requests", found)
