"""Semantic versions: what is one, and which comes first."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mooring.kube.versions import VersionError, normalised_version, parse_version

IN_ORDER = (
    "0.9.9",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-rc.2",
    "1.0.0-rc.10",
    "1.0.0",
    "1.2.0",
    "1.10.0",
)


def test_versions_are_ordered_by_number_and_a_release_comes_after_what_led_to_it() -> None:
    versions = [parse_version(text) for text in IN_ORDER]

    assert all(earlier < later for earlier, later in pairwise(versions))
    assert [str(version) for version in versions] == list(IN_ORDER)


def test_how_a_version_was_built_makes_no_difference() -> None:
    assert parse_version("1.2.3+build.7") == parse_version("1.2.3")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Version string empty"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("1.02.3", 'Minor number must not contain leading zeroes "02"'),
        ("1.2.x", 'Invalid character(s) found in patch number "x"'),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-a_b", 'Invalid character(s) found in prerelease "a_b"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
    ],
)
def test_what_is_no_version_is_told(text: str, reason: str) -> None:
    with pytest.raises(VersionError) as caught:
        parse_version(text)

    assert caught.value.message == reason


@pytest.mark.parametrize(
    ("text", "version"), [("v1.2.3", "1.2.3"), ("1", "1.0.0"), ("v1.02", "1.2.0"), ("01.00.1-rc.1", "1.0.1-rc.1")]
)
def test_what_people_write_is_put_right_where_that_is_asked_for(text: str, version: str) -> None:
    assert normalised_version(text) == parse_version(version)


def test_a_short_version_has_nothing_behind_its_numbers() -> None:
    with pytest.raises(VersionError, match="short version cannot contain"):
        normalised_version("1.2-rc")
