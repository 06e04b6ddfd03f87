"""The user and the groups that a container runs as."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.nodes.process.containers.environment.variables import ConfigError
from mooring.nodes.process.containers.sandbox.users import Users, users_of
from tests.nodes.process.life import bound_pod, container


def users(own: int, pod: dict[str, Any] | None = None, **context: Any) -> Users:
    spec = container(securityContext=context)
    return users_of(bound_pod(spec, securityContext=pod or {}), spec, own)


def test_root_runs_containers_as_whom_they_ask_for() -> None:
    assert users(0) == Users()
    assert users(0, {"runAsUser": 1, "fsGroup": 3}, runAsUser=2, runAsGroup=4) == Users(2, 4, (3,))
    assert users(0, {"supplementalGroups": [9, 8]}).groups == (8, 9)


def test_who_is_not_root_says_what_it_cannot_do() -> None:
    assert users(1000, runAsUser=1000) == Users()
    note = "the process node runs as user 1000 and not as root, so it cannot keep to runAsUser 2, runAsGroup 4"
    assert users(1000, runAsUser=2, runAsGroup=4).note == note


def test_a_container_that_must_not_be_root_is_not() -> None:
    with pytest.raises(ConfigError, match="runAsUser breaks non-root policy"):
        users(0, runAsNonRoot=True, runAsUser=0)
    assert users(0, runAsNonRoot=True, runAsUser=5).user == 5
    assert users(0, runAsNonRoot=True) == Users(65534, 65534)
    assert users(0, {"runAsNonRoot": True}, runAsGroup=7) == Users(65534, 7)
    assert users(1000, runAsNonRoot=True) == Users()
