"""The policy as people write it, and one sentence that names the key for each way to write it wrong."""

from __future__ import annotations

import pytest

from mooring.api.core.types import LabelSelector, Requirement
from mooring.features.autoscaler.replica_pools.policy import PolicyReference, read_policy
from mooring.kube.errors import MooringError
from mooring.testing.replica_pools import KEY, POLICY, SIZE


def test_a_policy_is_read() -> None:
    policy = read_policy(POLICY)
    assert policy.label_keys == (KEY,)
    assert policy.host_selector == LabelSelector({"purpose": "serving"})
    assert policy.namespace == "default"
    assert policy.bootstrap == PolicyReference("BootstrapKubeconfig", "my-cluster-workers-bootstrap-kubeconfig")
    assert (policy.installer, policy.max_pools, policy.max_hosts) == (None, 4, 8)
    assert policy.size_annotation == SIZE


def test_a_selector_may_be_anything_that_selects_by_labels() -> None:
    selector = read_policy({**POLICY, "hostSelector": "purpose=gpu, rack in (a,b), !broken"}).host_selector
    assert selector.match_labels == {"purpose": "gpu"}
    assert selector.match_expressions == (
        Requirement("broken", "DoesNotExist"),
        Requirement("rack", "In", ("a", "b")),
    )


def test_several_label_keys_are_separated_by_commas_or_lines() -> None:
    assert read_policy({**POLICY, "labelKeys": "a.io/x, a.io/y\na.io/x\n"}).label_keys == ("a.io/x", "a.io/y")


WRONG = {
    "a key that nobody reads": ({"maxHost": "3"}, "nobody reads the key maxHost; the keys are labelKeys, "),
    "no label keys": ({"labelKeys": " "}, "labelKeys is missing; write label keys such as example.com/node-group"),
    "a label key that is none": ({"labelKeys": "a b"}, 'labelKeys is "a b"; write label keys such as'),
    "no selector": ({"hostSelector": ""}, "hostSelector is missing; write a label selector of ByoHosts"),
    "a selector that is none": ({"hostSelector": "=,="}, 'hostSelector is "=,=": '),
    "a selector that compares": ({"hostSelector": "cpu>3"}, 'hostSelector is "cpu>3"; write a label selector'),
    "a namespace that is none": ({"hostNamespace": "A B"}, 'hostNamespace is "A B"; write the namespace'),
    "no cluster": ({"clusterName": ""}, "clusterName is missing; write the name of the Cluster"),
    "a reference without a kind": ({"bootstrapConfigRef": "x"}, 'bootstrapConfigRef is "x"; write kind and name'),
    "an installer without a name": ({"installerRef": "K/"}, 'installerRef is "K/"; write kind and name'),
    "a version that is none": ({"version": "new"}, 'version is "new"; write a version of Kubernetes such as v1.34.1'),
    "no number": ({"maxPools": "many"}, 'maxPools is "many"; write a whole number above 0'),
    "no host at all": ({"maxHosts": "0"}, 'maxHosts is "0"; write a whole number above 0'),
    "an annotation that is none": ({"groupSizeAnnotation": "a b"}, 'groupSizeAnnotation is "a b"; write the key'),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_refuses(name: str) -> None:
    change, sentence = WRONG[name]
    with pytest.raises(MooringError) as caught:
        read_policy({**POLICY, **change})
    assert caught.value.message.startswith(f"ConfigMap kube-system/mooring-replica-pools: {sentence}")
    assert "\n" not in caught.value.message
