"""charts/mooring without a cluster: what it is made of, what its values choose, and what it refuses."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

import mooring
from mooring.api.crds.resource import definition
from mooring.catalog import CATALOG
from mooring.cli.main import cli
from mooring.kube.durations import parse_duration
from mooring.kube.objects import Object
from mooring.supervisor.declared_rules import roles_of
from mooring.supervisor.selection import select_controllers
from mooring.testing.fixtures import missing
from mooring.testing.tools import ToolMissing, tool
from scripts.chart.files import CHART, chart_version, texts
from scripts.chart.schema import schema
from tests.chart.helm import NAMESPACE, Helm, HelmRefused

MADE = ("crds", "rbac")


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    try:
        tool("helm")
    except ToolMissing as error:
        missing(error)
    return Helm(tmp_path_factory.mktemp("chart"))


@pytest.fixture(scope="module")
def usual(helm: Helm) -> list[Object]:
    return helm.rendered({})


def named(objects: list[Object], kind: str) -> dict[str, Object]:
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


def test_the_made_files_are_what_is_declared() -> None:
    made = texts()
    assert [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text] == []
    assert {path for folder in MADE for path in (CHART / "templates" / folder).iterdir()} <= made.keys()


def test_helm_has_nothing_against_it(helm: Helm) -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in helm.run("lint", "--strict", CHART)


@pytest.mark.parametrize(
    ("program", "chart"), [("0.1.0.dev0", "0.1.0-dev.0"), ("1.2.3", "1.2.3"), ("1.2.3rc4", "1.2.3-rc.4")]
)
def test_versions_follow_the_program(program: str, chart: str) -> None:
    assert chart_version(program) == chart
    assert mooring.__version__ in (CHART / "Chart.yaml").read_text(encoding="utf-8")


# What is installed


def test_the_definitions_are_those_of_config_and_stay_when_the_release_goes(usual: list[Object]) -> None:
    found = named(usual, "CustomResourceDefinition")
    for resource in CATALOG.resources(CATALOG.external):
        made, wanted = found.pop(resource.name), definition(resource)
        assert made["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
        # Where conversions are asked for is the chart's own matter. What is wanted is shared, and stays whole.
        assert made["spec"].get("conversion", {}).keys() == wanted["spec"].get("conversion", {}).keys()
        assert {**made["spec"], "conversion": None} == {**wanted["spec"], "conversion": None}
    assert found == {}


def test_the_account_is_granted_what_is_declared_and_makes_no_configurations(usual: list[Object]) -> None:
    declared = {each["metadata"]["name"]: each["rules"] for each in roles_of(CATALOG)}
    running = {f"mooring:{name}" for name in (*CATALOG.external, "runtime", "webhooks")}
    roles, bindings = named(usual, "ClusterRole"), named(usual, "ClusterRoleBinding")
    assert running <= roles.keys()
    for name in running - {"mooring:webhooks"}:
        assert roles[name]["rules"] == declared[name]
        (subject,) = bindings[name]["subjects"]
        assert (subject["name"], subject["namespace"]) == ("mooring", NAMESPACE)
    assert {verb for rule in roles["mooring:webhooks"]["rules"] for verb in rule["verbs"]} == {"get", "patch"}
    others = {name for name in roles.keys() - running if "aggregationRule" not in roles[name]}
    assert others == {each["metadata"]["name"] for each in CATALOG.rules() if each["kind"] == "ClusterRole"}


def test_secrets_are_granted_by_name(usual: list[Object]) -> None:
    rules = [rule for role in named(usual, "Role").values() for rule in role["rules"]]
    (secrets,) = [rule for rule in rules if "secrets" in rule["resources"]]
    assert secrets["resourceNames"] == ["mooring-webhooks"]
    assert secrets["verbs"] == ["get", "patch"]


def test_everything_that_containers_are_told_is_an_option(usual: list[Object], helm: Helm) -> None:
    told = {
        "crds": {"enabled": False},
        "controllers": ["*", "-scheduler"],
        "featureGates": {"MaxUnavailableStatefulSet": False},
        "settings": {"scan-interval": "30s", "expander": "priority", "node-provisioner": "byo"},
        "kaito": {"version": "0.6.0", "repository": "https://charts.example.com"},
        "ui": {"allowedHosts": ["mooring.example.com"]},
    }
    context = click.Context(cli)
    for objects in (usual, helm.rendered(told)):
        for deployment in named(objects, "Deployment").values():
            (container,) = deployment["spec"]["template"]["spec"]["containers"]
            name, *arguments = container["args"]
            command = cli.get_command(context, name)
            assert command is not None, name
            command.make_context(name, list(arguments), resilient_parsing=False)


def test_pods_can_do_nothing_that_they_need_not(usual: list[Object]) -> None:
    for deployment in named(usual, "Deployment").values():
        spec = deployment["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
        assert writable == {"/tmp"}
        assert {"livenessProbe", "readinessProbe", "resources"} <= container.keys()


def test_the_page_has_an_account_without_rights(usual: list[Object]) -> None:
    account = named(usual, "Deployment")["mooring-ui"]["spec"]["template"]["spec"]["serviceAccountName"]
    subjects = [
        subject["name"]
        for kind in ("RoleBinding", "ClusterRoleBinding")
        for each in named(usual, kind).values()
        for subject in each["subjects"]
    ]
    assert subjects
    assert account not in (*subjects, "mooring", "default")


# What values choose


@pytest.mark.parametrize(
    "words",
    [
        ("lws", "lws-groups"),
        ("-lws", "-lws-groups", "-lws-webhook"),
        ("*",),
        ("*", "-garbage-collector"),
        ("-nodes", "cluster-autoscaler"),
        ("lws", "-lws", "nodes"),
        ("-*", "workspaces", "workspaces-webhook"),
        ("lws-pod-webhook", "nodes"),
    ],
    ids=",".join,
)
def test_controllers_choose_what_the_program_chooses_with_roles_and_definitions(
    helm: Helm, words: tuple[str, ...]
) -> None:
    chosen = select_controllers(",".join(words), CATALOG.external, external=True)
    made = helm.rendered({"controllers": list(words)})
    users = {each["metadata"]["name"] for each in CATALOG.rules(chosen)}
    assert named(made, "ClusterRoleBinding").keys() - users == {
        f"mooring:{name}" for name in (*chosen, "runtime", "webhooks")
    }
    assert users <= {*named(made, "ClusterRoleBinding"), *named(made, "ClusterRole")}
    known = {resource.name for resource in CATALOG.resources(CATALOG.external)}
    wanted = {resource.name for resource in CATALOG.resources(chosen)}
    assert named(made, "CustomResourceDefinition").keys() == wanted & known
    phases = {webhook.phase for webhook in CATALOG.webhooks(chosen)}
    for phase, kind in (("mutating", "MutatingWebhookConfiguration"), ("validating", "ValidatingWebhookConfiguration")):
        assert bool(named(made, kind)) == (phase in phases)


def test_what_is_switched_off_is_not_there(helm: Helm) -> None:
    off = {"enabled": False}
    made = helm.rendered({"webhooks": off, "ui": off, "metrics": off, "crds": off, "replicas": 1})
    kinds = {each["kind"] for each in made}
    assert not kinds & {"Service", "Secret", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
    assert not kinds & {"CustomResourceDefinition", "PodDisruptionBudget"}
    (deployment,) = named(made, "Deployment").values()
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert not [each for each in container["args"] if "webhook" in each]
    roles = named(made, "ClusterRole").keys()
    assert not [name for name in roles if "webhook" in name]
    assert "mooring:lws" in roles


def test_where_pods_run_is_up_to_values(helm: Helm) -> None:
    toleration = {"key": "infra", "operator": "Exists"}
    placed: dict[str, Any] = {
        "crds": {"enabled": False},
        "nodeSelector": {"role": "infra"},
        "tolerations": [toleration],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "system-cluster-critical",
        "serviceAccount": {"create": False, "name": "mine"},
        "image": {"repository": "registry.example.com/mooring", "tag": "1"},
        "replicas": 3,
    }
    made = helm.rendered(placed)
    deployment = named(made, "Deployment")["mooring"]
    spec = deployment["spec"]["template"]["spec"]
    assert deployment["spec"]["replicas"] == 3
    assert {name: spec[name] for name in ("nodeSelector", "tolerations", "affinity", "priorityClassName")} == {
        name: placed[name] for name in ("nodeSelector", "tolerations", "affinity", "priorityClassName")
    }
    assert spec["containers"][0]["image"] == "registry.example.com/mooring:1"
    assert spec["serviceAccountName"] == "mine"
    assert "mine" not in named(made, "ServiceAccount")
    assert named(made, "ClusterRoleBinding")["mooring:lws"]["subjects"][0]["name"] == "mine"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"replicas": 0}, "'/replicas': minimum"),
        ({"replicas": "two"}, "'/replicas': got string, want integer"),
        ({"replica": 2}, "additional properties 'replica' not allowed"),
        ({"controllers": ["lws", "nope"]}, "'/controllers/1': value must be one of"),
        ({"controllers": "lws"}, "'/controllers': got string, want array"),
        ({"controllers": ["-*"]}, "controllers: -* leaves none"),
        ({"controllers": ["lws-webhook"], "webhooks": {"enabled": False}}, "controllers: only webhooks are chosen"),
        ({"featureGates": {"Nope": True}}, "'/featureGates': additional properties 'Nope' not allowed"),
        ({"settings": {"scan-interval": "soon"}}, "'/settings/scan-interval': 'soon' does not match pattern"),
        ({"settings": {"expander": "random"}}, "'/settings/expander': value must be one of"),
        ({"webhooks": {"port": 70000}}, "'/webhooks/port': maximum"),
        ({"webhooks": {"certificateLifetime": "a year"}}, "'/webhooks/certificateLifetime': 'a year' does not match"),
        ({"ui": {"service": {"type": "Ingress"}}}, "'/ui/service/type': value must be one of"),
        ({"nodeSelector": {"gpu": True}}, "'/nodeSelector/gpu': got boolean, want string"),
        ({"image": {"repository": ""}}, "'/image/repository': minLength"),
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_with_the_name_of_its_field(helm: Helm, values: dict[str, Any], said: str) -> None:
    with pytest.raises(HelmRefused, match=re.escape(said)):
        helm.rendered(values)


@pytest.mark.parametrize("text", ["90s", "1h30m", "1.5h", "500ms", "0", "0s", "soon", "5", "", "5 m", "1d", "m", "5us"])
def test_helm_takes_the_durations_that_the_program_takes(text: str) -> None:
    pattern = schema()["properties"]["settings"]["properties"]["scan-interval"]["pattern"]
    assert bool(re.search(pattern, text)) == (parse_duration(text) is not None)


@pytest.mark.parametrize("text", ["365d", "1d12h", "12h", "90s", "d", "a year", "1w", "1.5d"])
def test_helm_takes_the_lifetimes_that_the_program_takes(text: str) -> None:
    rule = schema()["properties"]["webhooks"]["properties"]["certificateLifetime"]
    arguments = ["--webhook-url", "https://h:1", "--webhook-certificate-lifetime", text, "--list"]
    taken = CliRunner().invoke(cli, ["run", *arguments]).exit_code == 0
    assert (bool(re.search(rule["pattern"], text)) and len(text) >= rule["minLength"]) == taken


def test_every_value_is_on_the_page() -> None:
    page = (CHART.parents[1] / "docs" / "chart.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert rows == set(_paths(values))


def _paths(values: Any, before: str = "") -> list[str]:
    """The values that a user may set, by their paths. What is handed on to the pod is one value."""
    found = []
    for name, value in values.items():
        whole = not isinstance(value, dict) or not value or name == "resources"
        found += [f"{before}{name}"] if whole else _paths(value, f"{before}{name}.")
    return found
