"""Where the tests of a module lie: the folder of tests that mirrors its package."""

from __future__ import annotations

from pathlib import Path

# Packages that have tests elsewhere as well: rules of kinds show in what the registry answers and are held to the words
# of a real server, processes and agents are started by commands, which also show what placement says, controllers read
# through clients, what features declare is compared in one place, and builders are used by the tests of all that they
# build.
_ELSEWHERE = {
    "agents": ("cli",),
    "api": ("conformance/drawn", "registry", "conformance"),
    "apiserver": ("conformance",),
    "catalog.py": ("runtime", "cli"),
    "client": ("runtime",),
    "features": ("features/declared",),
    "kube": ("registry", "conformance/drawn"),
    "net": ("nodes",),
    "placement": ("cli",),
    "registry": ("conformance/drawn", "conformance"),
    "runway": ("cli",),
    "supervisor": ("cli", "runtime", "apiserver"),
    "testing": ("api", "features", "placement", "plan", "runtime"),
    "workloads": ("builtin",),
    "__main__.py": ("cli",),
}

# Tests that hold a whole package to what others say of it: of those that are not nearest, they come first.
_BROAD = {
    "admission": ("conformance",),
    "apiserver": ("conformance",),
    "registry": ("conformance",),
}


def broad_first(module: Path, tests: list[str], after: int) -> list[str]:
    """The same tests, with those that look at the whole of the package behind the first few."""
    folders = tuple(f"tests/{name}/" for name in _BROAD.get(module.relative_to("src/mooring").parts[0], ()))
    first, others = tests[:after], tests[after:]
    broad = [each for each in others if each.startswith(folders)] if folders else []
    return [*first, *broad, *(each for each in others if each not in broad)]


def test_folders(root: Path, module: Path) -> list[str]:
    """The nearest folder first, then its parents up to the package, then others; a feature is a package of its own."""
    parts = module.relative_to("src/mooring").parts
    top = 2 if parts[0] == "features" else 1
    mirrors = ["/".join(("tests", *parts[:depth])) for depth in range(len(parts) - 1, top - 1, -1)]
    others = [f"tests/{name}" for name in _ELSEWHERE.get(parts[0], ())]
    return [each for each in [*mirrors, *others] if (root / each).is_dir()]
