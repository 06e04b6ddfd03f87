"""Requests for certificates: whose they are."""

from __future__ import annotations

from tests.registry.test_node_restriction import signing_request
from tests.registry.world import World


def test_a_request_says_who_asked_for_it_and_not_what_its_author_wrote_there(world: World) -> None:
    body = signing_request("ada", "example.com/signer")
    body["spec"] |= {"username": "root", "uid": "0", "groups": ["system:masters"], "extra": {"scopes": ["all"]}}
    asked_by = {"user": "ada", "user_uid": "u-1", "groups": ("dev",), "user_extra": (("scopes", ("read", "write")),)}
    spec = world.make("csr", body, **asked_by)["spec"]
    assert (spec["username"], spec["uid"], spec["groups"]) == ("ada", "u-1", ["dev"])
    assert spec["extra"] == {"scopes": ["read", "write"]}


def test_what_is_not_known_of_the_author_is_left_out(world: World) -> None:
    spec = world.make("csr", signing_request("ada", "example.com/signer"), user="ada")["spec"]
    assert spec["username"] == "ada"
    assert not {"uid", "groups", "extra"} & spec.keys()
