"""A host name as the name of a node."""

from __future__ import annotations

import pytest

from mooring.kube.names import is_dns1123_subdomain
from mooring.nodes.process.machine_info import node_name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("vm", "vm"),
        ("Ada-Laptop.local", "ada-laptop.local"),
        ("my_box", "my-box"),
        ("-odd-.x", "odd.x"),
        ("ümlaut", "mlaut"),
        ("___", "this-machine"),
        ("a" * 80, "a" * 63),
    ],
)
def test_a_host_name_becomes_the_name_of_a_node(host: str, name: str) -> None:
    assert node_name(host) == name
    assert not is_dns1123_subdomain(name)
