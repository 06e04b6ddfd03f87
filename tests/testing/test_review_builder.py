"""How tests of webhooks put a question: the objects say which kind of write it is, and an administrator asks."""

from __future__ import annotations

import pytest

from mooring.testing import pod
from mooring.testing.webhooks import review


def test_the_objects_say_which_write_it_is() -> None:
    new, old = pod("new"), pod("old")
    asked = [review(new), review(new, old), review(old=old), review(new, old, operation="CONNECT")]
    assert [each.operation for each in asked] == ["CREATE", "UPDATE", "DELETE", "CONNECT"]
    assert [each.name for each in asked] == ["new", "new", "old", "new"]
    with pytest.raises(ValueError, match="A review is about an object"):
        review()


def test_an_administrator_means_it() -> None:
    asked = review(pod("p"))
    assert (asked.user, asked.groups) == ("kubernetes-admin", ("system:masters", "system:authenticated"))
    assert (asked.resource, asked.subresource, asked.dry_run) == ("pods", "", False)
    assert review(pod("p"), dry_run=True).dry_run
