"""No job that is taken makes a pod that the API would refuse, and none is refused without a reason."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mooring.features.notebooks.validation.job import validate_job
from mooring.features.notebooks.validation.pod import pod_errors
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.kube.objects import Object
from mooring.testing.notebooks import notebook_job
from tests.features.notebooks.objects import PREFERRED, REQUIRED, typed

WORDS = st.sampled_from(["", "a", "A-1", "a b", "-a", "example.com/a", "/a", "0", "17", "x" * 64, "ü"])
LABELS = st.dictionaries(WORDS, WORDS, max_size=2)
EXPRESSION = st.fixed_dictionaries(
    {
        "key": st.one_of(WORDS, st.just("metadata.name")),
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
    },
    optional={"values": st.lists(WORDS, max_size=2)},
)
LABEL_EXPRESSION = EXPRESSION.filter(lambda each: each["operator"] not in ("Gt", "Lt"))
SELECTOR = st.fixed_dictionaries(
    {}, optional={"matchLabels": LABELS, "matchExpressions": st.lists(LABEL_EXPRESSION, max_size=1)}
)
NODE_TERM = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.lists(EXPRESSION, max_size=2),
        "matchFields": st.lists(EXPRESSION, max_size=1),
    },
)
WEIGHT = st.integers(1, 100)
POD_TERM = st.fixed_dictionaries(
    {"topologyKey": WORDS},
    optional={
        "labelSelector": SELECTOR,
        "namespaces": st.lists(WORDS, max_size=1),
        "namespaceSelector": SELECTOR,
    },
)
POD_AFFINITY = st.fixed_dictionaries(
    {},
    optional={
        REQUIRED: st.lists(POD_TERM, max_size=1),
        PREFERRED: st.lists(st.fixed_dictionaries({"weight": WEIGHT, "podAffinityTerm": POD_TERM}), max_size=1),
    },
)
AFFINITY = st.fixed_dictionaries(
    {},
    optional={
        "nodeAffinity": st.fixed_dictionaries(
            {},
            optional={
                REQUIRED: st.fixed_dictionaries({"nodeSelectorTerms": st.lists(NODE_TERM, min_size=1, max_size=2)}),
                PREFERRED: st.lists(st.fixed_dictionaries({"weight": WEIGHT, "preference": NODE_TERM}), max_size=1),
            },
        ),
        "podAffinity": POD_AFFINITY,
        "podAntiAffinity": POD_AFFINITY,
    },
)
TOLERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "key": WORDS,
        "operator": st.sampled_from(["Exists", "Equal"]),
        "value": WORDS,
        "effect": st.sampled_from(["", "NoSchedule", "PreferNoSchedule", "NoExecute"]),
        "tolerationSeconds": st.sampled_from([-1, 0, 60]),
    },
)
AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "a b", "hugepages-2Mi"]),
    st.sampled_from(["1", "2", "0.5", "1Gi", "-1", "lots", ""]),
    max_size=2,
)
NAMES = st.sampled_from(["a", "b", "workspace", "mooring-runner"])
VOLUMES = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "emptyDir": st.sampled_from([{}, {"sizeLimit": "1Gi"}, {"medium": "Memory"}]),
        "secret": st.sampled_from([{"secretName": "s"}, {"secretName": "A B"}]),
        "configMap": st.sampled_from([{"name": "c", "items": [{"key": "k", "path": "../p"}]}, {"name": "c"}]),
        "persistentVolumeClaim": st.just({"claimName": "data"}),
    },
)
MOUNTS = st.fixed_dictionaries(
    {"name": NAMES, "mountPath": st.sampled_from(["/a", "/a/", "/workspace", "/workspace/data", "/b:c"])},
    optional={"subPath": st.sampled_from(["", "a", "/a", "../a"])},
)
ENV = st.fixed_dictionaries(
    {"name": st.sampled_from(["", "A", "HOME", "a b", "A=B"])},
    optional={
        "value": WORDS,
        "valueFrom": st.sampled_from([{}, {"secretKeyRef": {"name": "s", "key": "k"}}]),
    },
)
POD_CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "containerImage": st.sampled_from(["image", " image", ""]),
        "serviceAccountName": WORDS,
        "resources": st.fixed_dictionaries({}, optional={"requests": AMOUNTS, "limits": AMOUNTS}),
        "env": st.lists(ENV, max_size=2),
        "envFrom": st.lists(st.sampled_from([{}, {"secretRef": {"name": "s"}}]), max_size=1),
        "credentials": st.lists(WORDS, max_size=2),
        "volumes": st.lists(VOLUMES, max_size=2),
        "volumeMounts": st.lists(MOUNTS, max_size=2),
        "tolerations": st.lists(TOLERATIONS, max_size=2),
        "nodeSelector": LABELS,
        "affinity": AFFINITY,
    },
)


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(POD_CONFIGS, st.sampled_from(["hello", "x" * 60, "x" * 64, "a.b"]))
def test_the_pod_of_an_admitted_job_is_one_that_the_api_takes(config: Object, name: str) -> None:
    job = typed(notebook_job(name, pod=config))
    found = validate_job(job)
    refused = pod_errors(validation_pod(job, attempt=3))
    assert not refused or found
    # And every complaint is about a field of the job.
    assert all(error.path.startswith(("spec.podConfig.", "metadata.name")) for error in found), found


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(POD_CONFIGS)
def test_what_a_pod_could_have_is_not_refused_for_more_than_our_own_rules(config: Object) -> None:
    """A job is refused either for its pod, or by a rule that is there for a reason of its own."""
    job = typed(notebook_job(pod=config))
    ours = ("must be an integer", "is reserved", "own there", "Duplicate", "Not found", "one of", "may have one source")
    if not pod_errors(validation_pod(job)):
        assert all(any(text in str(error) for text in ours) for error in validate_job(job))
