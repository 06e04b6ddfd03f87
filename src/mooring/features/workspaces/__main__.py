"""Answers recorded requests about Workspaces: JSON lines in, JSON lines out, each with the `id` of its request."""

from __future__ import annotations

import sys

from mooring.features.workspaces.recorded.answers import answer
from mooring.runtime.jsonlines import answer_lines

if __name__ == "__main__":
    sys.exit(answer_lines(answer))
