"""`python -m mooring` for places where the console script is not on PATH."""

from mooring.cli.main import main

main()
