"""docs/fleets.md: its examples are good, and nothing that it should name is missing."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from mooring.catalog import CATALOG
from mooring.nodes.stages.crd import stage_definition
from mooring.nodes.stages.functions import FUNCTIONS, LAZY
from mooring.nodes.stages.lifecycle import ENVIRONMENT
from mooring.supervisor.fleet.manifest import check_fleet

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "fleets.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def test_every_example_of_the_page_is_a_good_fleet(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) == 2
    for block in blocks:
        file = tmp_path / "fleet.yaml"
        file.write_text(block, encoding="utf-8")
        assert check_fleet(file, NOW).objects


def test_every_example_that_ships_is_named_and_good() -> None:
    files = sorted((ROOT / "examples").glob("*/*.yaml"))
    assert len(files) >= 7
    for file in files:
        assert f"(../examples/{file.parent.name}/{file.name})" in PAGE, file
        assert check_fleet(file, NOW, CATALOG.names).objects


def test_every_function_of_templates_is_named() -> None:
    missing = [name for name in (*FUNCTIONS, *LAZY, *ENVIRONMENT) if f"`{name}`" not in PAGE]
    assert not missing


def test_every_field_of_a_stage_is_named() -> None:
    (version,) = stage_definition()["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    following = spec["next"]["properties"]
    delay = spec["delay"]["properties"]
    names = {*spec, *following, *delay}
    assert not [name for name in names if name not in PAGE]
