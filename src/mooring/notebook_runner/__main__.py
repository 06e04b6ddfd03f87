"""`python -m mooring.notebook_runner settings.json`, for those who have the package."""

from __future__ import annotations

from mooring.notebook_runner.program import main

raise SystemExit(main())
