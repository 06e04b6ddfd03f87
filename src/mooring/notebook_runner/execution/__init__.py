"""Executes the cells of a notebook in a real kernel. Only this part needs nbclient and nbformat."""

from __future__ import annotations

import sys

# jsonschema, which nbformat brings, imports this when it is there, to check URIs that no notebook has. It builds a
# grammar first, which takes longer than to start a kernel and run a small notebook in it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
