"""`mooring run` on a real control plane as the service account of an installation, with every request on record.

The API server also asks what OwnerReferencesPermissionEnforcement asks for, which some distributions have on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mooring.testing.builders import node
from mooring.testing.controlplane import EVERY_REQUEST, EXTRAS, ControlPlane
from mooring.testing.homes import GATES, home_in, simulated
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess
from tests.e2e.test_groups import PATIENCE

RBAC = "/apis/rbac.authorization.k8s.io/v1"
USER = "system:serviceaccount:mooring-system:mooring"
PAGE_USER = "system:serviceaccount:mooring-system:mooring-ui"
# Every request of the service accounts, and how it was answered.
AUDIT = {**EVERY_REQUEST, "rules": [{"level": "Metadata", "users": [USER, PAGE_USER]}, {"level": "None"}]}


@contextmanager
def audited_plane(folder: Path, *flags: str) -> Iterator[tuple[ControlPlane, Api]]:
    """A control plane that records what the account asks for, with two simulated nodes."""
    enforced = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"
    with (
        ControlPlane(folder, EXTRAS, gates=GATES, flags=[enforced, *flags], audit=AUDIT) as plane,
        Api(plane.url, plane.token, plane.ca) as api,
    ):
        for number in range(2):
            assert api.post("/api/v1/nodes", simulated(node(f"n{number}"))).code == 201
        yield plane, api


def account_token(api: Api, account: str) -> str:
    path = f"/api/v1/namespaces/mooring-system/serviceaccounts/{account}/token"
    answer = api.post(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    return str(answer.body["status"]["token"])


class Run:
    """One `mooring run` and what it says."""

    def __init__(self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.process = ProgramProcess(command, log, environment)

    def says(self, text: str) -> list[Any]:
        lines = self.process.log.read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if text in line["message"]]


class AccountRun(Run):
    """`mooring run` as the service account, once the API server calls its webhooks."""

    def __init__(
        self,
        plane: ControlPlane,
        api: Api,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.api, self.plane, self.home = api, plane, home_in(plane)
        super().__init__(command, plane.folder / "running.log", environment)
        self.process.wait_until(self._registered, PATIENCE)

    def _registered(self) -> bool:
        path = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/mooring"
        found = (self.api.get(path.format(phase)) for phase in ("mutating", "validating"))
        return all(each.code == 200 and each.body.get("webhooks") for each in found)

    def refused(self) -> list[str]:
        """The requests that the API server did not allow."""
        return [f"{each['verb']} {each['requestURI']}" for each in self.audited() if each["code"] == 403]

    def audited(self, user: str = USER) -> list[dict[str, Any]]:
        """The requests of an account."""
        found = [each for each in self.home.audited() if each["user"]["username"] == user]
        assert found, "nothing was audited"
        return [{**each, "code": each["responseStatus"]["code"]} for each in found]
