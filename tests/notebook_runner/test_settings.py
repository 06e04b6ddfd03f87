"""Settings that cannot be used are refused by a sentence that names the field and the value."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from mooring.notebook_runner.settings import ExpectedOutput, RunnerSettings, SettingsError


def test_settings_have_the_defaults_of_the_api() -> None:
    found = RunnerSettings.from_json('{"notebook": "/x.ipynb"}')
    assert (found.timeout_seconds, found.cell_timeout_seconds) == (1800.0, None)
    assert (found.comparison.strategy, found.comparison.tolerance) == ("normalized", Decimal("0.0001"))
    assert found.comparison.ignore_timestamps
    assert found.comparison.ignore_execution_count
    assert found.validation.level == "development"
    assert found.validation.detect_silent_failures


def test_expected_outputs_are_read() -> None:
    data = {"cell": 3, "type": "float", "shape": "-1,10", "minValue": "-1.5", "maxValue": "2e3", "notEmpty": True}
    text = json.dumps({"notebook": "x", "validation": {"expectedOutputs": [data]}})
    (found,) = RunnerSettings.from_json(text).validation.expected_outputs
    assert found == ExpectedOutput(3, "float", (-1, 10), Decimal("-1.5"), Decimal(2000), True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"notebook": ""}, "the settings name no notebook"),
        ({"timeoutSeconds": 0}, "timeoutSeconds is 0; give a number of seconds above 0"),
        ({"cellTimeoutSeconds": "3"}, 'cellTimeoutSeconds is "3"'),
        ({"parameters": []}, "parameters is no object"),
        ({"parameters": {"a-b": 1}}, 'parameters has "a-b", which is no name of a Python variable'),
        ({"parameters": {"class": 1}}, 'parameters has "class"'),
        ({"comparison": {"strategy": "fuzzy"}}, 'comparison.strategy is "fuzzy"; there are exact, normalized'),
        ({"comparison": {"floatingPointTolerance": "-1"}}, 'comparison.floatingPointTolerance "-1" is below 0'),
        ({"comparison": {"relativeTolerance": "nan"}}, 'comparison.relativeTolerance "nan" is no finite number'),
        ({"comparison": {"customTimestampPatterns": ["("]}}, 'customTimestampPatterns[0] "(" is no regular expression'),
        ({"comparison": {"normalizers": ["x"]}}, 'comparison.normalizers has "x"; there are timestamps'),
        ({"comparison": {"ignoreOutputTypes": "x"}}, "comparison.ignoreOutputTypes is no list of texts"),
        ({"validation": {"level": "x"}}, 'validation.level is "x"; there are learning'),
        ({"validation": {"strictMode": "true"}}, 'validation.strictMode is "true"; true or false is needed'),
        ({"validation": {"expectedOutputs": [{"cell": -1}]}}, "validation.expectedOutputs[0].cell is -1"),
        ({"validation": {"expectedOutputs": [{"cell": 0, "shape": "x"}]}}, 'expectedOutputs[0].shape "x" is no shape'),
        ({"validation": {"expectedOutputs": [{"cell": 0, "minValue": "x"}]}}, 'minValue "x" is no number'),
    ],
)
def test_what_cannot_be_used_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        RunnerSettings.from_json(json.dumps({"notebook": "x", **change}))
    assert sentence in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        RunnerSettings.from_json(text)
