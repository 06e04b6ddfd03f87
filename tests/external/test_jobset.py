"""The manager of JobSets lives on the embedded cluster as its own manifests have it: the pod of its Deployment runs on
this machine's node, with its account's token, and the API server calls its webhooks through its Service."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.kube.objects import Object
from mooring.net.certificates import ensure_certificates
from mooring.nodes.process.machine_info import machine_info
from mooring.testing.processes import free_port
from tests.external.conftest import required
from tests.external.kubectl import Kubectl
from tests.nodes.process.home import needs_sandbox

pytestmark = [pytest.mark.slow, needs_sandbox]

MODULE = Path(__file__).parents[1] / "tools" / "jobset"
NAMESPACE = "jobset-system"
SERVICE = f"jobset-webhook-service.{NAMESPACE}.svc"


def upstream_manifests(kubectl: Kubectl) -> list[Object]:
    """What upstream's kustomize bases make, from the module that the manager is built from."""
    asked = subprocess.run(
        ["go", "mod", "download", "-json", "sigs.k8s.io/jobset"], cwd=MODULE, capture_output=True, text=True, check=True
    )
    made = kubectl("kustomize", f"{json.loads(asked.stdout)['Dir']}/config/default")
    return [each for each in yaml.load_all(made, yaml.CSafeLoader) if each]


def fitted(manifests: list[Object], program: Path, folder: Path) -> list[Object]:
    """The manifests for this machine: the image's program is mounted, ports are free ones, and the certificate is there
    from the start, where the manager's own would reach it with the next refresh of its volume."""
    webhook, health = free_port(), free_port()
    files = ensure_certificates(folder / "certificates", [SERVICE], now=datetime.now(UTC))
    settings = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": True},
        "internalCertManagement": {"enable": False},
        "webhook": {"port": webhook},
        "health": {"healthProbeBindAddress": f":{health}"},
        "metrics": {"bindAddress": "0"},
    }
    for obj in manifests:
        match obj["kind"]:
            case "ConfigMap":
                obj["data"] = {"controller_manager_config.yaml": json.dumps(settings)}
            case "Secret":
                obj["data"] = {"tls.crt": encoded(files.certificate), "tls.key": encoded(files.key)}
            case "Service" if obj["metadata"]["name"] == "jobset-webhook-service":
                obj["spec"]["ports"][0]["targetPort"] = webhook
            case "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration":
                for each in obj["webhooks"]:
                    each["clientConfig"]["caBundle"] = encoded(files.authority)
            case "Deployment":
                fit_pod(obj["spec"]["template"]["spec"], program, health)
    return manifests


def fit_pod(spec: Object, program: Path, health: int) -> None:
    (container,) = spec["containers"]
    (command,) = container["command"]
    spec["volumes"].append({"name": "program", "hostPath": {"path": str(program.resolve()), "type": "File"}})
    container["volumeMounts"].append({"name": "program", "mountPath": command, "readOnly": True})
    for name, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        container[name] = {"periodSeconds": 1, "httpGet": {"path": path, "port": health}}
    spec["nodeSelector"] = {"kubernetes.io/hostname": machine_info().name}
    spec["tolerations"] = [{"key": "mooring.dev/process", "operator": "Exists"}]


def encoded(path: Path) -> str:
    return b64encode(path.read_bytes()).decode()


@pytest.fixture
def managed(newest: Kubectl, tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl beside the running manager."""
    program = required("jobset")
    manifests = fitted(upstream_manifests(newest), program, tmp_path)
    text = yaml.dump_all(manifests, Dumper=yaml.CSafeDumper)
    newest("apply", "--namespace", NAMESPACE, "--server-side", "-f", "-", stdin=text)
    manager = ("--namespace", NAMESPACE, "deployment/jobset-controller-manager")
    try:
        waited = newest.run("wait", *manager, "--for=condition=Available", "--timeout=50s")
        assert waited.returncode == 0, waited.stderr + newest.run("logs", *manager).stdout
        yield newest
    finally:
        newest("delete", "--namespace", NAMESPACE, "--wait=false", "--ignore-not-found", "-f", "-", stdin=text)


def replicated(name: str, replicas: int, pods: int) -> Object:
    template = {
        "metadata": {"annotations": {"mooring.dev/duration": "1s"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "any"}]},
    }
    job = {"completions": pods, "parallelism": pods, "template": template}
    return {"name": name, "replicas": replicas, "template": {"spec": job}}


def job_set(name: str, *jobs: Object, **spec: Any) -> Object:
    kind = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    return {**kind, "metadata": {"name": name}, "spec": {"replicatedJobs": list(jobs), **spec}}


def test_a_job_set_of_two_replicated_jobs_completes(managed: Kubectl) -> None:
    managed.apply(job_set("train", replicated("driver", 1, 1), replicated("workers", 2, 2)))
    # Its mutating webhook has filled in what was left out.
    assert managed.get("jobset", "train")["spec"]["successPolicy"] == {"operator": "All"}
    managed("wait", "jobset/train", "--for=condition=Completed", "--timeout=50s")
    jobs = {each["metadata"]["name"]: each["status"]["succeeded"] for each in managed.get("jobs")["items"]}
    assert jobs == {"train-driver-0": 1, "train-workers-0": 2, "train-workers-1": 2}

    policy = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    wrong = job_set("wrong", replicated("driver", 1, 1), successPolicy=policy)
    refusal = managed.fails("create", "-f", "-", stdin=json.dumps(wrong))
    assert 'admission webhook "vjobset.kb.io" denied the request: invalid replicatedJob name' in refusal

    managed("delete", "jobset", "train", "--timeout=30s")
    managed("wait", "job/train-driver-0", "--for=delete", "--timeout=30s")
