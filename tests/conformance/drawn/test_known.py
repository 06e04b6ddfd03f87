"""What is known to be answered otherwise is few, and asked."""

from __future__ import annotations

import yaml

from tests.conformance.drawn.comparing import KNOWN, identity, known
from tests.conformance.drawn.recordings import read
from tests.conformance.drawn.stage import files

# It may shrink.
MOST = 213


def test_the_known_differences_do_not_grow() -> None:
    assert len(known()) <= MOST


def test_every_known_difference_is_of_a_request_that_is_asked() -> None:
    asked = {identity(each) for file in files() for each in read(file)}
    assert known().keys() - asked == set()


def test_no_request_is_known_for_two_causes() -> None:
    groups = yaml.safe_load(KNOWN.read_text(encoding="utf-8"))
    assert sum(map(len, groups.values())) == len(known())
