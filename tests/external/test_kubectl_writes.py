"""What people write with kubectl: apply, create, change, delete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.external.kubectl import Kubectl, manifest
from tests.external.manifests import config_map, deployment


def test_apply_creates_then_configures_then_finds_nothing_to_do(kubectl: Kubectl) -> None:
    assert kubectl.apply(config_map("a", x="1")) == "configmap/a created\n"
    assert kubectl.apply(config_map("a", x="1")) == "configmap/a unchanged\n"
    assert kubectl.apply(config_map("a", y="2")) == "configmap/a configured\n"
    assert kubectl.get("configmap", "a")["data"] == {"y": "2"}


def test_apply_merges_lists_of_built_in_kinds(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web"))
    two = deployment("web")
    two["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "registry.example/side:1"})
    assert kubectl.apply(two) == "deployment.apps/web configured\n"
    assert kubectl.apply(deployment("web")) == "deployment.apps/web configured\n"
    containers = kubectl.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in containers] == ["main"]


def test_apply_takes_the_lists_that_get_prints(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a", x="1"), config_map("b"))
    printed = kubectl("get", "configmaps", "a", "b", "-o", "json")
    assert json.loads(printed)["kind"] == "List"
    kubectl("delete", "configmaps", "a", "b")
    assert kubectl("apply", "-f", "-", stdin=printed).splitlines() == ["configmap/a created", "configmap/b created"]


def test_apply_refuses_a_misspelt_field(kubectl: Kubectl) -> None:
    wrong = deployment("web")
    wrong["spec"]["replicaz"] = 3
    said = kubectl.fails("apply", "-f", "-", stdin=manifest(wrong))
    assert 'strict decoding error: unknown field "spec.replicaz"' in said


def test_apply_shows_the_field_that_is_invalid(kubectl: Kubectl) -> None:
    wrong = deployment("web")
    wrong["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    said = kubectl.fails("apply", "-f", "-", stdin=manifest(wrong))
    assert 'The Deployment "web" is invalid: spec.template.metadata.labels: Invalid value' in said


def test_server_side_apply_keeps_owners_apart(kubectl: Kubectl) -> None:
    ours = ("--server-side", "--field-manager=ours")
    theirs = ("--server-side", "--field-manager=theirs")
    assert kubectl.apply(config_map("a", x="1"), flags=ours) == "configmap/a serverside-applied\n"
    kubectl.apply(config_map("a", y="1"), flags=theirs)
    assert kubectl.get("configmap", "a")["data"] == {"x": "1", "y": "1"}
    said = kubectl.fails("apply", *theirs, "-f", "-", stdin=manifest(config_map("a", x="2")))
    assert 'conflict with "ours"' in said
    kubectl.apply(config_map("a", x="2"), flags=(*theirs, "--force-conflicts"))
    assert kubectl.get("configmap", "a")["data"] == {"x": "2"}


def test_client_side_and_server_side_apply_follow_one_another(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a", x="1"))
    kubectl.apply(config_map("a", x="2"), flags=("--server-side",))
    kubectl.apply(config_map("a", x="3"), flags=("--server-side",))
    assert kubectl.get("configmap", "a")["data"] == {"x": "3"}


def test_a_dry_run_changes_nothing(kubectl: Kubectl) -> None:
    assert "created (server dry run)" in kubectl.apply(config_map("a"), flags=("--dry-run=server",))
    assert "(NotFound)" in kubectl.fails("get", "configmap", "a")


def test_diff_shows_what_apply_would_change(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a", x="1"))
    assert kubectl.run("diff", "-f", "-", stdin=manifest(config_map("a", x="1"))).returncode == 0
    done = kubectl.run("diff", "-f", "-", stdin=manifest(config_map("a", x="2")))
    assert done.returncode == 1, done.stderr
    assert '-  x: "1"' in done.stdout
    assert '+  x: "2"' in done.stdout


CREATED = {
    "configmap c --from-literal=a=b": "configmap/c created",
    "secret generic s --from-literal=a=b": "secret/s created",
    "secret docker-registry d --docker-username=u --docker-password=p": "secret/d created",
    "job j --image=registry.example/job:1": "job.batch/j created",
    "cronjob k --image=i --schedule=@yearly": "cronjob.batch/k created",
    "deployment w --image=registry.example/app:1": "deployment.apps/w created",
    "service clusterip v --tcp=80:8080": "service/v created",
    "serviceaccount sa": "serviceaccount/sa created",
    "role r --verb=get --resource=pods": "role.rbac.authorization.k8s.io/r created",
    "rolebinding b --role=r --user=u": "rolebinding.rbac.authorization.k8s.io/b created",
    "pdb p --selector=app=x --min-available=1": "poddisruptionbudget.policy/p created",
    "priorityclass of-{namespace} --value=7": "priorityclass.scheduling.k8s.io/of-{namespace} created",
}


def test_create_makes_every_common_kind(kubectl: Kubectl) -> None:
    for arguments, said in CREATED.items():
        told = kubectl("create", *arguments.format(namespace=kubectl.namespace).split())
        assert told == said.format(namespace=kubectl.namespace) + "\n"


def test_create_of_what_exists_is_an_error(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "c")
    assert 'configmaps "c" already exists' in kubectl.fails("create", "configmap", "c")


def test_create_takes_generated_names(kubectl: Kubectl) -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}}
    name = kubectl("create", "-f", "-", "-o", "name", stdin=json.dumps(made)).strip()
    assert name.startswith("configmap/made-")


def test_a_job_can_be_made_from_a_cron_job(kubectl: Kubectl) -> None:
    kubectl("create", "cronjob", "nightly", "--image=i", "--schedule=0 0 1 1 *")
    assert "job.batch/now created" in kubectl("create", "job", "now", "--from=cronjob/nightly")
    owner = kubectl.get("job", "now")["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"]) == ("CronJob", "nightly")


def test_replace_puts_and_minds_the_revision(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a", x="1"))
    old = kubectl.get("configmap", "a")
    assert "configmap/a replaced" in kubectl("replace", "-f", "-", stdin=json.dumps(old | {"data": {"x": "2"}}))
    said = kubectl.fails("replace", "-f", "-", stdin=json.dumps(old | {"data": {"x": "3"}}))
    assert "the object has been modified" in said


def test_edit_saves_what_the_editor_leaves(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.apply(config_map("a", x="before"))
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/before/after/ "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    assert "configmap/a edited" in kubectl("edit", "configmap", "a", environment={"KUBE_EDITOR": str(editor)})
    assert kubectl.get("configmap", "a")["data"] == {"x": "after"}


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("strategic", {"spec": {"replicas": 4}}),
        ("merge", {"spec": {"replicas": 4}}),
        ("json", [{"op": "replace", "path": "/spec/replicas", "value": 4}]),
    ],
)
def test_patch_takes_three_kinds(kubectl: Kubectl, kind: str, patch: object) -> None:
    kubectl.apply(deployment("web", replicas=1))
    said = kubectl("patch", "deployment", "web", "--type", kind, "--patch", json.dumps(patch))
    assert said == "deployment.apps/web patched\n"
    assert kubectl.get("deployment", "web")["spec"]["replicas"] == 4


def test_patch_reaches_the_status(kubectl: Kubectl) -> None:
    kubectl("create", "pdb", "p", "--selector=app=x", "--min-available=1")
    patch = '{"metadata": {"annotations": {"a": "b"}}}'
    assert "patched" in kubectl("patch", "pdb", "p", "--subresource=status", "--type=merge", "--patch", patch)


def test_labels_and_annotations_are_set_kept_and_removed(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a"))
    assert kubectl("label", "configmap", "a", "tier=front") == "configmap/a labeled\n"
    said = kubectl.fails("label", "configmap", "a", "tier=back")
    assert "already has a value (front), and --overwrite is false" in said
    kubectl("label", "configmap", "a", "tier=back", "--overwrite")
    kubectl("annotate", "configmap", "a", "note=hello")
    metadata = kubectl.get("configmap", "a")["metadata"]
    assert metadata["labels"] == {"tier": "back"}
    assert metadata["annotations"]["note"] == "hello"
    assert kubectl("label", "configmap", "a", "tier-") == "configmap/a unlabeled\n"


def test_set_changes_images_variables_and_resources(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web"))
    kubectl("set", "image", "deployment/web", "main=registry.example/app:2")
    kubectl("set", "env", "deployment/web", "MODE=fast")
    kubectl("set", "resources", "deployment/web", "--requests=cpu=100m")
    (container,) = kubectl.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/app:2"
    assert container["env"] == [{"name": "MODE", "value": "fast"}]
    assert container["resources"] == {"requests": {"cpu": "100m"}}


def test_delete_takes_names_files_and_selectors(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a"), config_map("b"), config_map("c"))
    kubectl("label", "configmap", "b", "old=yes")
    assert 'configmap "a" deleted' in kubectl("delete", "configmap", "a")
    assert 'configmap "b" deleted' in kubectl("delete", "configmap", "-l", "old=yes")
    assert 'configmap "c" deleted' in kubectl("delete", "-f", "-", stdin=manifest(config_map("c")))
    assert "(NotFound)" in kubectl.fails("delete", "configmap", "a")
    assert kubectl("delete", "configmap", "a", "--ignore-not-found") == ""


def test_delete_of_a_namespace_takes_all_that_is_in_it(kubectl: Kubectl) -> None:
    inner = f"{kubectl.namespace}-inner"
    kubectl("create", "namespace", inner)
    inside = Kubectl(kubectl.program, kubectl.kubeconfig, kubectl.cache, inner)
    inside.apply(deployment("web"))
    inside("rollout", "status", "deployment/web", "--timeout=30s")
    assert f'namespace "{inner}" deleted' in kubectl("delete", "namespace", inner, "--timeout=30s")
    assert "(NotFound)" in kubectl.fails("get", "namespace", inner)


def test_delete_with_orphans_leaves_the_dependents(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web", replicas=1))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    kubectl("delete", "deployment", "web", "--cascade=orphan")
    (kept,) = kubectl.get("replicasets")["items"]
    assert "ownerReferences" not in kept["metadata"]
    kubectl("delete", "replicaset", kept["metadata"]["name"])
    kubectl("wait", "pod", "-l", "app=web", "--for=delete", "--timeout=60s")


def test_delete_in_the_foreground_waits_for_the_dependents(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web", replicas=1))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    kubectl("delete", "deployment", "web", "--cascade=foreground", "--timeout=60s")
    assert kubectl.get("replicasets")["items"] == []


def test_a_field_that_comes_twice_is_refused_or_warned_of(newest: Kubectl, tmp_path: Path) -> None:
    file = tmp_path / "twice.json"
    file.write_text('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}')
    path = f"/api/v1/namespaces/{newest.namespace}/configmaps"
    strict = newest.fails("create", "--raw", f"{path}?fieldValidation=Strict", "-f", str(file))
    assert 'strict decoding error: duplicate field "data.a"' in strict
    assert 'Warning: duplicate field "data.a"' in newest.run("create", "--raw", path, "-f", str(file)).stderr


def test_a_pod_runs_as_an_account_that_exists(newest: Kubectl) -> None:
    assert newest.get("serviceaccount", "default")["metadata"]["name"] == "default"
    spec = {"serviceAccountName": "nobody", "containers": [{"name": "c", "image": "i"}]}
    runner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "runner"}, "spec": spec}
    said = newest.fails("apply", "-f", "-", stdin=manifest(runner))
    assert f'error looking up service account {newest.namespace}/nobody: serviceaccount "nobody" not found' in said


def test_a_certificate_is_asked_for_in_ones_own_name(newest: Kubectl) -> None:
    pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
    spec = {"request": pem, "signerName": "example.com/s", "usages": ["any"], "username": "somebody-else"}
    metadata = {"name": newest.namespace}
    kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    newest.apply({**kind, "metadata": metadata, "spec": spec})
    made = newest.get("csr", newest.namespace)["spec"]
    assert made["username"] == "mooring-admin"
    assert "system:masters" in made["groups"]
