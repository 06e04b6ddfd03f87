"""What was seen so far, kept between runs: a run that was stopped goes on, and only what changed is asked again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from scripts.mutants.mutations import Mutation

# What a file of tests says to a fault: one of its tests fails, all pass, none comes by, it takes long and nothing is
# known yet, or these come by and were not tried yet.
KILLED = "killed"
LIVES = "lives"
AWAY = "away"
LONG = "long"
MET = "met"


@dataclass(frozen=True)
class Sight:
    """What one file of tests says; the note is of the test that failed, the tests are those that come by."""

    outcome: str
    note: str = ""
    tests: tuple[str, ...] = ()


@dataclass
class Ledger:
    """Sights by fault and file of tests, both by their content: a changed file is asked again, the others are not."""

    root: Path
    path: Path
    _sights: dict[tuple[str, str], Sight] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # All at once: the checkout may change while its copies are tested.
        for folder in ("src/mooring", "tests"):
            for path in (self.root / folder).rglob("*.py"):
                self._digests[str(path.relative_to(self.root))] = sha256(path.read_bytes()).hexdigest()[:16]
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                fault, file, outcome, note, tests = json.loads(line)
                self._sights[fault, file] = Sight(outcome, note, tuple(tests))

    def sight(self, mutation: Mutation, file: str) -> Sight | None:
        return self._sights.get((self.fault(mutation), self._file(file)))

    def write(self, mutation: Mutation, sights: Iterable[tuple[str, Sight]]) -> None:
        """Each is on disk at once, in one line, so that a stop loses nothing that was seen."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for name, sight in sights:
                self._sights[self.fault(mutation), self._file(name)] = sight
                row = (self.fault(mutation), self._file(name), sight.outcome, sight.note, sight.tests)
                file.write(json.dumps(row) + "\n")

    def killed_by(self, mutation: Mutation, files: Sequence[str]) -> str | None:
        sights = (self.sight(mutation, file) for file in files)
        return next((sight.note for sight in sights if sight is not None and sight.outcome == KILLED), None)

    def untried(self, mutation: Mutation, files: Sequence[str]) -> list[str]:
        return [file for file in files if self.sight(mutation, file) is None]

    def unseen(self, mutation: Mutation, files: Sequence[str]) -> list[str]:
        """Those that may or may not come by."""
        sights = ((file, self.sight(mutation, file)) for file in files)
        return [file for file, sight in sights if sight is None or sight.outcome == LONG]

    def is_met(self, mutation: Mutation, files: Sequence[str]) -> bool:
        """Whether one of them comes by."""
        sights = (self.sight(mutation, file) for file in files)
        return any(sight is not None and sight.outcome not in (AWAY, LONG) for sight in sights)

    def fault(self, mutation: Mutation) -> str:
        """A short name of it, which is another once its module changes."""
        place = f"{self._digests[str(mutation.path)]} {mutation.path} {mutation.span} {mutation.text}"
        return sha256(place.encode()).hexdigest()[:16]

    def _file(self, name: str) -> str:
        return f"{name} {self._digests[name]}"
