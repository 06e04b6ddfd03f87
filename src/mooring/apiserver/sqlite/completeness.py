"""Whether a database has everything that was ever committed to it, and what is said where it has not.

A log that was deleted, or cut short by damage, looks to SQLite like one that ends there. The file beside the database
knows better.
"""

import logging
from pathlib import Path
from typing import Final

from mooring.apiserver.sqlite.errors import DataFolderError
from mooring.apiserver.sqlite.folder import DATABASE
from mooring.apiserver.sqlite.last_revision import LAST_REVISION, read_last_revision
from mooring.apiserver.sqlite.peek import Peeked

__all__ = ["REVISION_GAP", "check_completeness", "check_nothing_was_there"]

_log = logging.getLogger(__name__)

# How far revisions go on behind those that clients may have seen of data that are gone: more than anybody wrote since.
REVISION_GAP: Final = 1_000_000_000
# The first version whose databases have such a file.
_KEPT_SINCE_VERSION: Final = 2
# What nobody has written to yet is at this revision.
_NOTHING_YET: Final = 1
_WAY_OUT: Final = (
    "put a backup in its place with mooring restore, or start once with --accept-data-loss to go on without them"
)


def check_completeness(folder: Path, peeked: Peeked, *, accept_loss: bool) -> int:
    """Refuse data that lack commits. If their loss is accepted: the revision to go on behind; 0 if nothing is lost."""
    database = folder / DATABASE
    try:
        wanted = read_last_revision(folder)
    except ValueError:
        problem = f"{folder / LAST_REVISION} is damaged, so that nobody knows whether the last writes are in {database}"
        return _lost(problem, peeked.newest, accept_loss)
    if wanted is None:
        if peeked.version < _KEPT_SINCE_VERSION:
            return 0
        problem = f"{folder / LAST_REVISION} is missing, so that nobody knows whether the last writes are in {database}"
        return _lost(problem, peeked.newest, accept_loss)
    if wanted <= peeked.newest:
        return 0
    log = folder / f"{DATABASE}-wal"
    what = "is damaged" if log.exists() and log.stat().st_size else "is missing"
    problem = (
        f"the last writes are lost: {log} {what}. {database} ends at revision {peeked.newest}, and {wanted} was "
        f"written, so up to {wanted - peeked.newest} changes are gone"
    )
    return _lost(problem, wanted, accept_loss)


def check_nothing_was_there(folder: Path, *, accept_loss: bool) -> int:
    """Refuse to begin anew where there were data. If their loss is accepted: the revision to go on behind."""
    try:
        wanted = read_last_revision(folder)
    except ValueError:
        wanted = None
    if wanted is None or wanted <= _NOTHING_YET:
        return 0
    problem = f"all data are lost: {folder / DATABASE} is missing, and revision {wanted} was written to it"
    return _lost(problem, wanted, accept_loss)


def _lost(problem: str, revision: int, accept_loss: bool) -> int:
    if accept_loss:
        _log.error("%s. That was accepted", problem)
        return revision + REVISION_GAP
    raise DataFolderError(f"{problem}. Nothing was changed; {_WAY_OUT}")
