"""What is demanded of a notebook beyond that its cells run: of its outputs, and of their likeness to a golden one."""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers

__all__ = ["AMOUNT", "NORMALIZERS", "STRATEGIES", "ComparisonConfig", "ExpectedCellOutput", "ValidationConfig"]

STRATEGIES: Final = ("exact", "normalized")
AMOUNT: Final = r"^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
# Parts of outputs that differ from run to run, each by the name under which it is masked on both sides.
NORMALIZERS: Final = ("timestamps", "addresses", "paths", "uuids", "ansi", "whitespace")


class ComparisonConfig(View, frozen=True):
    """How outputs are compared with those of the golden notebook."""

    strategy: Annotated[
        str,
        Markers("exact compares texts; normalized masks and tolerates.", enum=STRATEGIES, defaulted=True),
    ] = "normalized"
    floating_point_tolerance: Annotated[
        str, Markers("By how much two numbers may differ.", pattern=AMOUNT, defaulted=True)
    ] = "0.0001"
    ignore_timestamps: Annotated[bool, Markers("Whether times are masked.", defaulted=True)] = True
    ignore_execution_count: Annotated[bool, Markers("Whether execution counts are ignored.", defaulted=True)] = True
    custom_timestamp_patterns: Annotated[
        tuple[str, ...], Markers("Regular expressions for more that is masked as a time.")
    ] = ()
    ignore_output_types: Annotated[
        tuple[str, ...], Markers("Output types, names of streams and mime types that are not compared.")
    ] = ()
    relative_tolerance: Annotated[
        str,
        Markers(
            "By which part of the larger one two numbers may differ, such as 0.01. A field of Mooring's.",
            pattern=AMOUNT,
        ),
    ] = ""
    normalizers: Annotated[
        tuple[Annotated[str, Markers(enum=NORMALIZERS)], ...],
        Markers("What more is masked in the outputs of both notebooks. A field of Mooring's."),
    ] = ()


class ExpectedCellOutput(View, frozen=True, omit_defaults=True):
    """What one cell must put out."""

    cell: Annotated[int, Markers("The cell, counted from 0.", minimum=0)]
    type: Annotated[str, Markers("The type of the value.")] = ""
    shape: Annotated[str, Markers("The shape of the value, such as -1,10, where -1 is any.")] = ""
    min_value: Annotated[str, Markers("The smallest number that it may be.", pattern=_NUMBER)] = ""
    max_value: Annotated[str, Markers("The largest number that it may be.", pattern=_NUMBER)] = ""
    not_empty: Annotated[bool, Markers("Whether it must be there.", defaulted=True)] = False


class ValidationConfig(View, frozen=True):
    """What makes a notebook fail although its cells ran."""

    level: Annotated[
        str,
        Markers(
            "How strict the checks are: learning warns, development fails on silent failures, staging on exit codes "
            "too, production on everything.",
            enum=("learning", "development", "staging", "production"),
            defaulted=True,
        ),
    ] = "development"
    strict_mode: Annotated[
        bool, Markers("Whether everything fails that fails at the level production.", defaulted=True)
    ] = False
    fail_on_stderr: Annotated[
        bool, Markers("Whether a cell that writes to stderr fails the notebook.", defaulted=True)
    ] = False
    fail_on_warnings: Annotated[
        bool, Markers("Whether a warning of Python or of logging fails the notebook.", defaulted=True)
    ] = False
    require_explicit_exit_codes: Annotated[
        bool, Markers("Whether a cell must look at the exit code of every shell command.", defaulted=True)
    ] = False
    check_output_types: Annotated[
        bool,
        Markers("Whether outputs must have the types of the golden notebook, or of the saved one.", defaulted=True),
    ] = False
    verify_assertions: Annotated[bool, Markers("Whether the notebook must assert something.", defaulted=True)] = False
    detect_silent_failures: Annotated[
        bool, Markers("Whether a result that is None or NaN fails the notebook.", defaulted=True)
    ] = True
    expected_outputs: Annotated[tuple[ExpectedCellOutput, ...], Markers("What single cells must put out.")] = ()
