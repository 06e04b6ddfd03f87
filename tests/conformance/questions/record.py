"""Draws the stories anew and writes down what a real server answers.

python -m tests.conformance.questions.record            every file
python -m tests.conformance.questions.record rights     only these
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from mooring.testing.homes import REAL, api_only
from tests.conformance.questions.asking import RealServer
from tests.conformance.questions.drawn import DRAWN
from tests.conformance.questions.hooks import hooks_of
from tests.conformance.questions.people import PEOPLE
from tests.conformance.questions.playing import play
from tests.conformance.questions.stories import Story, write


def main() -> None:
    for file in sys.argv[1:] or list(DRAWN):
        made = []
        with (
            tempfile.TemporaryDirectory() as folder,
            api_only(REAL, Path(folder), PEOPLE) as home,
            hooks_of(DRAWN[file], Path(folder)) as hooks,
        ):
            for name, steps in DRAWN[file].stories().items():
                server = RealServer(home)
                now = server.now.isoformat(timespec="seconds")
                story = Story(name, steps, now)
                made.append(Story(name, steps, now, play(server, story, audited=DRAWN[file].audited, hooks=hooks)))
        write(file, made)
        print(f"{file}: {len(made)} stories, {sum(len(story.steps) for story in made)} answers")


if __name__ == "__main__":
    main()
