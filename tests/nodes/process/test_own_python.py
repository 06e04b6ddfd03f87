"""The way of a container to the Python that runs the node."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.nodes.process.containers.environment.own_python import Opening, openings_to, python_first


@pytest.fixture
def homes() -> Iterator[Path]:
    """One home that only its owner can enter, and one for everybody, with a Python in each."""
    with tempfile.TemporaryDirectory(prefix="homes-") as name:
        top = Path(name)
        for home in ("closed", "open"):
            place = top / home / "venv" / "bin"
            place.mkdir(parents=True)
            (place / "python3").touch(0o755)
        top.chmod(0o755)
        (top / "closed").chmod(0o700)
        yield top


def test_python3_is_the_one_that_runs_the_node(homes: Path) -> None:
    one, other = (str(homes / home / "venv" / "bin") for home in ("open", "closed"))
    assert python_first(f"{one}:{other}", f"{other}/python3") == f"{other}:{one}:{other}"
    assert python_first("", f"{other}/python3") == f"{other}:"


def test_a_path_that_finds_it_keeps_its_order(homes: Path) -> None:
    place = str(homes / "open" / "venv" / "bin")
    assert python_first(f"/first:{place}", f"{place}/python3.11") == f"/first:{place}"


def test_of_a_closed_home_only_what_is_needed_is_shown(homes: Path) -> None:
    inside = str(homes / "closed" / "venv")
    assert openings_to([inside, str(homes / "open" / "venv")]) == [Opening(str(homes / "closed"), (inside,))]


def test_two_places_in_one_home_have_one_opening(homes: Path) -> None:
    inside = [str(homes / "closed" / name) for name in ("venv", "python")]
    assert openings_to(inside) == [Opening(str(homes / "closed"), tuple(sorted(inside)))]
