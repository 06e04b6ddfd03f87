"""The runner as one file: a zip that any Python 3.9 runs, the same bytes each time it is made."""

from __future__ import annotations

import io
import zipfile
from functools import lru_cache
from pkgutil import get_data, walk_packages
from typing import Final

import mooring.notebook_runner as runner

__all__ = ["DATA", "runner_zip"]

DATA: Final = ("report/report.css",)
"""Files of the package that are no modules."""

_ENTRY: Final = b"from mooring.notebook_runner.program import main\n\nraise SystemExit(main())\n"
_FOLDER: Final = runner.__name__.replace(".", "/")
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@lru_cache(maxsize=1)
def runner_zip() -> bytes:
    """`python3 runner.pyz settings.json` runs it; it holds no other part of Mooring."""
    files = {"__main__.py": _ENTRY, "mooring/__init__.py": b"", f"{_FOLDER}/__init__.py": _source("__init__.py")}
    for found in walk_packages(runner.__path__, runner.__name__ + "."):
        inside = found.name[len(runner.__name__) + 1 :].replace(".", "/")
        path = f"{inside}/__init__.py" if found.ispkg else f"{inside}.py"
        files[f"{_FOLDER}/{path}"] = _source(path)
    files.update({f"{_FOLDER}/{path}": _source(path) for path in DATA})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            # Made with a time of its own, ZipInfo would take none from the clock and none from the file.
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def _source(path: str) -> bytes:
    found = get_data(runner.__name__, path)
    assert found is not None
    return found
