"""Values as flags and as a file: Helm reads both back as what they were, and what it cannot be given is refused."""

from __future__ import annotations

import base64
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.installation import ChartRepository
from mooring.features.installation.helm.commands import by_hand, show, shown_command, upgrade, upgrade_command
from mooring.features.installation.helm.value_flags import MAX_DEPTH, check, flatten, values_text
from mooring.kube.errors import InputError
from mooring.testing.fixtures import missing
from mooring.testing.tools import ToolMissing, tool

KAITO = HelmChart(
    "kaito-workspace",
    "kaito/workspace",
    "0.8.0",
    "kaito-workspace",
    create_namespace=True,
    values={"featureGates": {"disableNodeAutoProvisioning": True}},
)
# Characters that mean something to Helm, YAML, JSON or a shell.
ODD = "abz09 .,:;=\\'\"`$!{}[]()<>|&*?#~%@^/-_+\t\n\r\x01\x1f\x7f\x85\xa0\u2028\ufeff\U0001f600é"
TEXTS = st.one_of(
    st.text(alphabet=ODD, max_size=12),
    st.text(max_size=8).filter(lambda text: "\0" not in text and text.isprintable()),
    st.sampled_from(
        ["true", "False", "null", "NULL", "0", "007", "-5", "+5", "1.5", "1e3", "0x1", "~", "yes", "", "{a}"]
    ),
)
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
)
SCALARS = st.one_of(st.booleans(), st.none(), NUMBERS, TEXTS)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chart that says what values it was given."""
    folder = tmp_path_factory.mktemp("echo") / "echo"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: echo\nversion: 1.0.0\n")
    (folder / "templates" / "values.yaml").write_text("values: {{ .Values | toJson | b64enc }}\n")
    return folder


def values_seen(chart: Path, *arguments: str) -> Any:
    try:
        helm = tool("helm")
    except ToolMissing as error:
        missing(error)
    environment = {**os.environ, **{f"HELM_{name}_HOME": str(chart.parent) for name in ("CACHE", "CONFIG", "DATA")}}
    command = [str(helm), "template", "echo", str(chart), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("values: "))
    return json.loads(base64.b64decode(line.removeprefix("values: ")))


def plain(value: Any) -> Any:
    """As JSON tells numbers: 1.0 and 1 are the same."""
    return json.loads(json.dumps(value), parse_int=float)


@settings(max_examples=12, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.dictionaries(TEXTS.filter(bool), TREES, min_size=6, max_size=16))
def test_helm_reads_flags_and_a_file_back_as_the_values_that_they_are_made_from(
    chart: Path, values: dict[str, Any]
) -> None:
    file = chart.parent / "values.yaml"
    file.write_text(values_text(values), encoding="utf-8")
    wanted = plain(values)
    assert plain(values_seen(chart, "-f", str(file))) == wanted
    flags = [each for flag in flatten(values) for each in flag]
    assert plain(values_seen(chart, *flags)) == wanted
    # What is shown is read by a shell first.
    assert shlex.split(shown_command(flags)) == flags


def test_what_people_meet_most_is_written_as_they_would_write_it() -> None:
    values = {
        "replicas": 2,
        "image": {"repository": "mcr.microsoft.com/aks/kaito/workspace", "tag": "0.8.0"},
        "tag": "123",
        "ratio": 1.5,
        "off": False,
        "gone": None,
        "empty": {},
        "args": ["--a", "b,c"],
        "node.selector": {"kubernetes.io/os": "linux"},
        "note": 'a "quoted", dotted. text',
        "word": "café",
    }
    assert flatten(values) == (
        ("--set", "replicas=2"),
        ("--set", "image.repository=mcr.microsoft.com/aks/kaito/workspace"),
        ("--set", "image.tag=0.8.0"),
        ("--set-json", 'tag="123"'),
        ("--set-json", "ratio=1.5"),
        ("--set", "off=false"),
        ("--set", "gone=null"),
        ("--set-json", "empty={}"),
        ("--set-json", 'args=["--a","b,c"]'),
        ("--set", r"node\.selector.kubernetes\.io/os=linux"),
        ("--set-json", r'note="a \"quoted\", dotted. text"'),
        ("--set-json", 'word="café"'),
    )


def test_the_command_of_kaito_is_that_of_its_own_pages() -> None:
    assert shown_command(upgrade_command(KAITO, "kaito/workspace")) == (
        "helm upgrade --install kaito-workspace kaito/workspace --version 0.8.0 -n kaito-workspace --create-namespace "
        "--set featureGates.disableNodeAutoProvisioning=true --wait"
    )


def test_by_hand_the_repository_is_added_first() -> None:
    commands = by_hand(ChartRepository("kaito", "https://charts.example.com/a b"), (KAITO,))
    assert commands[:2] == ("helm repo add kaito 'https://charts.example.com/a b'", "helm repo update")
    assert commands[2].startswith("helm upgrade --install kaito-workspace kaito/workspace --version 0.8.0 ")


REGISTRY = ChartRepository("kaito", "oci://registry.example.com/charts/")


def test_a_chart_of_a_registry_is_named_by_its_whole_address() -> None:
    whole = "oci://registry.example.com/charts/workspace"
    assert show("chart", KAITO, REGISTRY) == ("show", "chart", whole, "--version", "0.8.0")
    assert upgrade(KAITO, REGISTRY, 60, skip_crds=True)[:6] == (
        *("upgrade", "--install", "kaito-workspace", whole, "--version", "0.8.0"),
    )
    (typed,) = by_hand(REGISTRY, (KAITO,))
    assert typed.startswith(f"helm upgrade --install kaito-workspace {whole} --version 0.8.0 ")


@pytest.mark.parametrize("place", ["localhost:5000", "127.0.0.1:5000", "[::1]:5000"])
def test_a_registry_on_this_machine_needs_no_certificate(place: str) -> None:
    shown = show("crds", KAITO, ChartRepository("kaito", f"oci://{place}/charts"))
    assert shown == ("show", "crds", f"oci://{place}/charts/workspace", "--plain-http", "--version", "0.8.0")


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"end": True}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_helm_takes_as_many_levels_as_are_let_through(chart: Path) -> None:
    values = nested(MAX_DEPTH)
    assert values_seen(chart, *(each for flag in flatten(values) for each in flag)) == values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": {"b": float("nan")}}, "values.a.b: is nan, which JSON has no word for; give a number"),
        ({"a": [1, float("inf")]}, "values.a[1]: is inf, which JSON has no word for; give a number"),
        ({"a": {1: "x"}}, "values.a: has the key 1, which is no string; put it into quotes"),
        ({"a": 2**60}, "values.a: is 1152921504606846976, which Helm would round; put it into quotes"),
        ({"": 1}, "values: a value must have a name; Helm has none for the empty one"),
        ({"a": {"b": b"x"}}, "values.a.b: is of type bytes, which no value of a chart has"),
        ({"a": "\ud800"}, "values.a: holds '\\ud800', which is no text: half of a surrogate pair"),
        ({"a": "\udfff"}, "values.a: holds '\\udfff', which is no text: half of a surrogate pair"),
        ({"a": "x\0"}, "values.a: holds 'x\\x00', which no command line can: a NUL character"),
        (nested(MAX_DEPTH + 1), "is nested deeper than 30 levels, which is as far as Helm goes"),
    ],
)
def test_what_helm_cannot_be_given_is_refused_with_its_path(values: dict[Any, Any], message: str) -> None:
    for refusing in (check, flatten, values_text):
        with pytest.raises(InputError) as error:
            refusing(values)
        assert str(error.value).endswith(message)
