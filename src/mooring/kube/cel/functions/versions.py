"""Semantic versions in expressions: `semver("1.2.3").major()`."""

from typing import Final

from mooring.kube.cel.functions.model import Function, read_argument
from mooring.kube.versions import Semver, VersionError, normalised_version, parse_version

SEMVER: Final = "kubernetes.Semver"


def _semver(text: str, normalise: bool = False) -> Semver:
    return normalised_version(text) if normalise else parse_version(text)


def _is_semver(text: str, normalise: bool = False) -> bool:
    try:
        _semver(text, normalise)
    except VersionError:
        return False
    return True


_ONE: Final = (SEMVER,)
_TWO: Final = (SEMVER, SEMVER)

VERSIONS: Final = (
    Function("semver", ("string",), SEMVER, _semver, cost=read_argument()),
    Function("semver", ("string", "bool"), SEMVER, _semver, cost=read_argument()),
    Function("isSemver", ("string",), "bool", _is_semver, cost=read_argument()),
    Function("isSemver", ("string", "bool"), "bool", _is_semver, cost=read_argument()),
    Function("isGreaterThan", _TWO, "bool", lambda left, right: left > right, member=True),
    Function("isLessThan", _TWO, "bool", lambda left, right: left < right, member=True),
    Function("compareTo", _TWO, "int", Semver.compare, member=True),
    Function("major", _ONE, "int", lambda version: version.major, member=True),
    Function("minor", _ONE, "int", lambda version: version.minor, member=True),
    Function("patch", _ONE, "int", lambda version: version.patch, member=True),
)
