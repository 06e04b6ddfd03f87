"""Semantic versions: `1.2.3-rc.1`, read strictly, ordered as semver.org orders them.

What follows a `+` says how a version was built; it is read and makes no difference.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Final

from mooring.kube.errors import MooringError, go_quote

__all__ = ["Semver", "VersionError", "normalised_version", "parse_version"]

# Of numbers of 64 bits.
_MOST_DIGITS: Final = 20
_NUMBER: Final = re.compile(r"[0-9]+")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]+")


class VersionError(MooringError):
    """A text that is not a semantic version."""


@functools.total_ordering
@dataclasses.dataclass(frozen=True, slots=True)
class Semver:
    major: int
    minor: int
    patch: int
    # The parts of a version before a release; numbers come before words.
    prerelease: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        release = f"{self.major}.{self.minor}.{self.patch}"
        return f"{release}-{'.'.join(map(str, self.prerelease))}" if self.prerelease else release

    def _order(self) -> tuple[object, ...]:
        parts = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.prerelease)
        return (self.major, self.minor, self.patch, not parts, parts)

    def __lt__(self, other: object) -> bool:
        return self._order() < other._order() if isinstance(other, Semver) else NotImplemented

    def compare(self, other: Semver) -> int:
        """-1, 0 or 1."""
        return (self > other) - (self < other)


def parse_version(text: str) -> Semver:
    """Read a version. Raises VersionError."""
    if not text:
        raise VersionError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise VersionError("No Major.Minor.Patch elements found")
    patch, _, build = parts[2].partition("+")
    patch, dash, prerelease = patch.partition("-")
    numbers = _number("Major", parts[0]), _number("Minor", parts[1]), _number("Patch", patch)
    identifiers = tuple(map(_identifier, prerelease.split("."))) if dash else ()
    if "+" in parts[2]:
        for part in build.split("."):
            if not part:
                raise VersionError("Build meta data is empty")
            if not _IDENTIFIER.fullmatch(part):
                raise VersionError(f"Invalid character(s) found in build meta data {go_quote(part)}")
    return Semver(*numbers, identifiers)


def normalised_version(text: str) -> Semver:
    """The same for what people write: a `v` in front, leading zeros and missing numbers are put right first."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and any(mark in parts[-1] for mark in "+-"):
        raise VersionError("short version cannot contain PreRelease/Build meta data")
    return parse_version(".".join([*parts, "0", "0"][:3]))


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest[:1].isdigit() else f"0{rest}"


def _number(name: str, part: str) -> int:
    if not part:
        raise VersionError('strconv.ParseUint: parsing "": invalid syntax')
    if not _NUMBER.fullmatch(part):
        raise VersionError(f"Invalid character(s) found in {name.lower()} number {go_quote(part)}")
    if len(part) > 1 and part[0] == "0":
        raise VersionError(f"{name} number must not contain leading zeroes {go_quote(part)}")
    if len(part) > _MOST_DIGITS or int(part) >= 2**64:
        raise VersionError(f"strconv.ParseUint: parsing {go_quote(part)}: value out of range")
    return int(part)


def _identifier(part: str) -> int | str:
    if not part:
        raise VersionError("Prerelease is empty")
    if _NUMBER.fullmatch(part):
        if len(part) > 1 and part[0] == "0":
            raise VersionError(f"Numeric PreRelease version must not contain leading zeroes {go_quote(part)}")
        return int(part)
    if not _IDENTIFIER.fullmatch(part):
        raise VersionError(f"Invalid character(s) found in prerelease {go_quote(part)}")
    return part
