"""What commands say, word for word, over drawn clusters; what becomes of fleets; and one line for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.record import RECORDED, rows
from tests.support.recordings import difference, recorded


def test_commands_and_fleets_say_what_they_said(tmp_path: Path) -> None:
    for expected, found in zip(recorded(RECORDED), rows(tmp_path), strict=True):
        told = difference(expected, json.loads(json.dumps(found)))
        assert not told, f"{expected[:2]}{told}"
