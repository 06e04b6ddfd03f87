"""charts/mooring on a real control plane, installed by real Helm.

No kubelet is there, so its pods wait for a node that never comes. `mooring run` is a process of the test instead, with
the arguments and the environment of the Deployment as the API server has it, a read-only root file system, and the
rights of its service account, whose files lie where a kubelet puts them. The API server finds its webhooks by their
Service, of which an EndpointSlice is played.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.testing.controlplane import ControlPlane, answers
from mooring.testing.fixtures import missing
from mooring.testing.groups import leader_worker_set
from mooring.testing.http import Api
from mooring.testing.notebooks import notebook_job
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import ToolMissing
from scripts.chart.files import CHART
from tests.chart.helm import NAMESPACE, RELEASE, Helm
from tests.e2e import test_notebook_pods
from tests.e2e.account_run import PAGE_USER, AccountRun, Run, account_token, audited_plane
from tests.e2e.account_stories import groups_and_workspaces, hosts_and_pools
from tests.e2e.played_node import played_node
from tests.e2e.test_groups import PATIENCE, SETS, Place

# In CI there is root, and its lack is a failure.
needs_root = pytest.mark.skipif(os.geteuid() != 0 and not os.environ.get("CI"), reason="mounts take root")
pytestmark = [pytest.mark.slow, needs_root]

AS_POD = Path(__file__).parent / "as_pod.sh"

# Long enough for two cores that are busy: a certificate is renewed when a third of it is left.
LIFE_SECONDS = 15
# Helm keeps a release in a Secret, which holds 1 MiB.
MOST_RELEASE_BYTES = 500_000
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
CONVERTED = "clusters.cluster.x-k8s.io"
INSIDE = f"/api/v1/namespaces/{NAMESPACE}"


def own_address() -> str:
    """An address of this machine that endpoints may have; loopback ones they may not. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


def endpoint_slice(name: str, port: int) -> Object:
    """What the controller of EndpointSlices would make of a ready pod."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "labels": {"kubernetes.io/service-name": "mooring-webhooks"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [own_address()], "conditions": {"ready": True}}],
        "ports": [{"name": "webhooks", "port": port, "protocol": "TCP"}],
    }


class Released(AccountRun):
    """An installed chart, an older one at first, and the process that stands for a pod of it."""

    def __init__(self, plane: ControlPlane, api: Api) -> None:
        self.api = api
        self.helm = Helm(plane.folder, plane.kubeconfig)
        self.webhook_port, self.health_port, self.page_port = free_port(), free_port(), free_port()
        strict = {"pod-security.kubernetes.io/enforce": "restricted"}
        assert api.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": strict}}).code == 201
        self.helm.run("install", RELEASE, older(plane.folder / "older"), "-n", NAMESPACE, *self.values())
        slices = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
        assert api.post(slices, endpoint_slice("played", self.webhook_port)).code == 201
        self._plane = plane
        super().__init__(plane, api, self.command(), self.environment())

    def values(self, **more: Any) -> list[str]:
        nowhere = {"example.com/there-is": "no-such-node"}
        webhooks = {"port": self.webhook_port, "certificateLifetime": f"{LIFE_SECONDS}s"}
        page = {"nodeSelector": nowhere, "port": self.page_port}
        values = {"nodeSelector": nowhere, "ui": page, "metrics": {"port": self.health_port}}
        return self.helm.values({**values, "webhooks": webhooks, **more})

    def container(self, deployment: str = "mooring") -> Object:
        made = self.api.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{deployment}").body
        (container,) = made["spec"]["template"]["spec"]["containers"]
        found: Object = container
        return found

    def command(self, deployment: str = "mooring", ports: Mapping[int, int] | None = None) -> list[str | Path]:
        """The process of a pod of this Deployment, at other ports where there is another one."""
        arguments = [str(each) for each in self.container(deployment)["args"]]
        for old, new in (ports or {}).items():
            arguments = [each.replace(str(old), str(new)) for each in arguments]
        folder = self._plane.folder / f"account-of-{deployment}"
        folder.mkdir(exist_ok=True)
        shutil.copy(self._plane.ca, folder / "ca.crt")
        # The accounts of both Deployments have the names of these.
        (folder / "token").write_text(account_token(self.api, deployment), encoding="utf-8")
        (folder / "namespace").write_text(NAMESPACE, encoding="utf-8")
        return [AS_POD, folder, sys.executable, "-m", "mooring", *arguments]

    def environment(self, deployment: str = "mooring") -> dict[str, str]:
        """What the Deployment says, and what kubelets add."""
        said = {each["name"]: str(each["value"]) for each in self.container(deployment)["env"]}
        server = {"KUBERNETES_SERVICE_HOST": self._plane.host, "KUBERNETES_SERVICE_PORT": str(self._plane.port)}
        return {**said, **server, "KUBECONFIG": ""}

    def secret(self) -> dict[str, str]:
        data: Object = self.api.get(f"{INSIDE}/secrets/mooring-webhooks").body["data"]
        return {name: base64.b64decode(text).decode() for name, text in data.items()}

    def trusted(self) -> set[str]:
        """What the API server is told to trust, wherever it is told."""
        found = []
        for kind in ("mutating", "validating"):
            path = f"{CONFIGURATIONS}/{kind}webhookconfigurations/mooring"
            found += [each["clientConfig"] for each in self.api.get(path).body["webhooks"]]
        definition = self.api.get(f"{DEFINITIONS}/{CONVERTED}").body
        found.append(definition["spec"]["conversion"]["webhook"]["clientConfig"])
        assert {each["service"]["name"] for each in found} == {"mooring-webhooks"}
        return {base64.b64decode(each["caBundle"]).decode() for each in found}


def older(folder: Path) -> Path:
    """The chart as it may have been: a version before, with a definition that lacks something."""
    shutil.copytree(CHART, folder)
    chart, kind = folder / "Chart.yaml", folder / "templates" / "crds" / "kaito.sh_workspaces.yaml"
    lines = chart.read_text(encoding="utf-8").splitlines()
    chart.write_text("\n".join(["version: 0.0.1" if line.startswith("version:") else line for line in lines]))
    text = kind.read_text(encoding="utf-8")
    lacking = text.replace("    shortNames:\n    - wk\n    - wks\n", "")
    assert lacking != text
    kind.write_text(lacking, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Released]:
    try:
        # An API server that finds the pods of a Service by itself, for there is nobody who routes its address.
        with audited_plane(tmp_path_factory.mktemp("release"), "--enable-aggregator-routing=true") as (plane, api):
            running = Released(plane, api)
            try:
                yield running
            finally:
                running.process.stop()
    except ToolMissing as error:
        missing(error)


def eventually(look: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < end
        time.sleep(0.1)


def shown(port: int, trusted: str) -> str:
    """The certificate that is shown at a port to a client that trusts these authorities."""
    client = ssl.create_default_context(cadata=trusted)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        client.wrap_socket(plain, server_hostname=f"mooring-webhooks.{NAMESPACE}.svc") as secure,
    ):
        found = secure.getpeercert(binary_form=True)
    assert found is not None
    return ssl.DER_cert_to_PEM_cert(found)


def test_the_stories_of_groups_workspaces_hosts_and_pools_need_no_other_rights(released: Released) -> None:
    groups_and_workspaces(released)
    hosts_and_pools(released)
    # Stored in another version, and converted by the process.
    assert released.api.get("/apis/cluster.x-k8s.io/v1beta1/clusters").body["items"]
    assert released.refused() == []
    assert released.says("may not") == []


def test_the_story_of_a_notebook_needs_no_other_rights(released: Released) -> None:
    with played_node(released.home, released.api, test_notebook_pods.GPU_NODE) as played:
        site = test_notebook_pods.PodSite(released.home, released.api, played)
        test_notebook_pods.test_a_cell_that_failed_is_told_with_the_others(site)
    assert released.refused() == []
    assert released.says("may not") == []


def test_its_pods_are_admitted_where_only_restricted_ones_are(released: Released) -> None:
    path = f"{INSIDE}/pods"
    component = "app.kubernetes.io/component=controllers"
    eventually(lambda: len(released.api.get(path, labelSelector=component).body["items"]) == 2)
    with Api(f"http://127.0.0.1:{released.health_port}") as health:
        assert health.get("/readyz").code == 200
        assert health.get("/livez").code == 200
        assert "mooring_webhook_reviews_total" in str(health.get("/metrics").body)


def test_replicas_show_one_certificate_which_is_renewed_before_it_ends(released: Released, tmp_path: Path) -> None:
    port = free_port()
    ports = {released.webhook_port: port, released.health_port: free_port()}
    other = Run(released.command(ports=ports), tmp_path / "other.log", released.environment())
    try:
        other.process.wait_until(lambda: bool(other.says("mooring-webhooks")), PATIENCE)
        first = released.secret()
        assert released.trusted() == {first["ca.crt"]}

        def both_show(certificate: str) -> bool:
            ports = (released.webhook_port, port)
            return all(shown(each, first["ca.crt"]) == certificate for each in ports)

        eventually(lambda: both_show(released.secret()["tls.crt"]))
        eventually(lambda: released.secret()["tls.crt"] != first["tls.crt"])
        renewed = released.secret()["tls.crt"]
        # The one before has not ended: whoever has not heard of the new one yet may show it.
        ends = ssl.cert_time_to_seconds(_ends(first["tls.crt"]))
        eventually(lambda: both_show(renewed))
        assert time.time() < ends
        # The authority is as it was, so nobody has to be told.
        assert released.trusted() == {first["ca.crt"]}
    finally:
        assert other.process.stop() == 0


def _ends(certificate: str) -> str:
    from cryptography.x509 import load_pem_x509_certificate

    end = load_pem_x509_certificate(certificate.encode()).not_valid_after_utc
    return end.strftime("%b %d %H:%M:%S %Y GMT")


def test_the_page_acts_with_the_rights_of_its_callers_alone(released: Released) -> None:
    command, log = released.command("mooring-ui"), released.plane.folder / "ui.log"
    page = ProgramProcess(command, log, released.environment("mooring-ui"))
    url = f"http://127.0.0.1:{released.page_port}"
    try:
        page.wait_until(lambda: answers(f"{url}/api/health"), PATIENCE)
        token = account_token(released.api, "mooring-ui")
        with Api(url, released.plane.token) as admin, Api(url, token) as nobody, Api(url) as unknown:
            assert len(admin.get("/api/nodes").body["nodes"]) >= 2
            assert nobody.get("/api/nodes").code == 403
            assert unknown.get("/api/nodes").code == 401
        for name, code in ((f"mooring-ui.{NAMESPACE}.svc", 200), ("elsewhere.example.com", 421)):
            assert httpx2.get(f"{url}/api/health", headers={"Host": name}).status_code == code
    finally:
        assert page.stop() == 0
    # What it asks with its own token, of which one caller has made use here, as nobody does elsewhere.
    own = {each["requestURI"] for each in released.audited(PAGE_USER) if not each["userAgent"].startswith("mooring-ui")}
    assert own == {"/version"}


def test_an_upgrade_keeps_objects_and_an_end_keeps_them_too(released: Released) -> None:
    api, helm = released.api, released.helm
    place = Place(api, "kept")
    place.create(leader_worker_set(replicas=1, size=2))
    place.wait(place.available)
    before = place.pods()
    path = f"{SETS.format('kept')}/serve"
    uid, workspaces = api.get(path).body["metadata"]["uid"], f"{DEFINITIONS}/workspaces.kaito.sh"
    assert "shortNames" not in api.get(workspaces).body["spec"]["names"]
    kept, trusted = released.secret()["ca.crt"], released.trusted()

    helm.run("upgrade", RELEASE, CHART, "-n", NAMESPACE, *released.values(settings={"scan-interval": "30s"}))
    assert api.get(workspaces).body["spec"]["names"]["shortNames"] == ["wk", "wks"]
    assert "--scan-interval=30s" in released.container()["args"]
    assert (released.secret()["ca.crt"], released.trusted()) == (kept, trusted)
    assert api.get(path).body["metadata"]["uid"] == uid
    # The webhooks are asked as before.
    refused = api.post(test_notebook_pods.JOBS, notebook_job(tolerations=[{"operator": "Exists", "value": "x"}]))
    assert "admission webhook" in refused.body["message"]
    place.change({"spec": {"replicas": 2}})
    place.wait(lambda: place.available() and len(place.pods()) == 4)
    assert {name: pod["metadata"]["uid"] for name, pod in place.pods().items()}.items() >= {
        (name, pod["metadata"]["uid"]) for name, pod in before.items()
    }

    releases = api.get(f"{INSIDE}/secrets", labelSelector="owner=helm").body["items"]
    assert max(len(each["data"]["release"]) for each in releases) < MOST_RELEASE_BYTES

    assert released.process.stop() == 0
    helm.run("uninstall", RELEASE, "-n", NAMESPACE)
    for resource in CATALOG.resources(CATALOG.external):
        assert api.get(f"{DEFINITIONS}/{resource.name}").code == 200
    assert api.get(path).body["metadata"]["uid"] == uid
    for kind in ("mutating", "validating"):
        assert api.get(f"{CONFIGURATIONS}/{kind}webhookconfigurations/mooring").code == 404
    assert api.get(f"{INSIDE}/secrets/mooring-webhooks").code == 404
    assert api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/mooring:lws").code == 404
    # Nothing stands in the way of whoever looks after the objects from here on.
    eventually(lambda: api.patch(path, "merge", {"spec": {"replicas": 1}}).code == 200)
    assert api.get("/apis/cluster.x-k8s.io/v1beta2/namespaces/default-hosts/clusters").code == 200

    # Installed again, they are taken over.
    helm.run("install", RELEASE, CHART, "-n", NAMESPACE, *released.values())
    assert api.get(path).body["metadata"]["uid"] == uid
