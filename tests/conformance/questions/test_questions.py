"""The embedded server gives the answers that a real one gave to the same questions."""

from __future__ import annotations
