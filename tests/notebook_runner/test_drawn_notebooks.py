"""Notebooks, runs and rules that are drawn: verdicts, what of them fits into a status, and reports, as recorded."""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from random import Random
from typing import Any, Final

from mooring.notebook_runner.artifact import with_short_outputs
from mooring.notebook_runner.execution.cell_run import FAILURE, SKIPPED, SUCCESS, CellRun, EarlyEnd, Execution
from mooring.notebook_runner.execution.value_probe import METADATA_KEY
from mooring.notebook_runner.report.page import report_page
from mooring.notebook_runner.result_limits import fitted, payload_of
from mooring.notebook_runner.settings import RunnerSettings, SettingsError
from mooring.notebook_runner.verdict import execution_result, verdict
from tests.notebook_runner.notebooks import Cell, code, error, markdown, notebook, printed, raw, result, shown
from tests.support.golden import same_as_recorded

RUNS: Final = 450
UUID: Final = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
LINES: Final = (
    "loss: 0.12345\n", "loss: 0.12349\n", "loss: 0.2\n", "loss: nan\n", "None\n", "a = 1, b = 2\n", "a = 1,  b = 3\n",
    "2026-01-02 03:04:05 started\n", "2025-11-12T13:14:15Z started\n", "01/02/2026 started\n", "1767323045 started\n",
    "Mon Jan 5 12:00:00 2026\n", "Wall time: 1.5 s\n", "Wall time: 22 ms\n", "CPU times: user 1 s, total: 2 s\n",
    "<object at 0x7f49d2afad10>\n", "<object at 0x7f49d2afad99>\n", f"id {UUID}\n", f"id {UUID[::-1][:36]}\n",
    "/home/ada/data/x.csv read\n", "/srv/b/x.csv read\n", "C:\\data\\x.csv read\n", "\x1b[31mred\x1b[0m\n", "red\n",
    "10%\r20%\r100%\n", "100%\n", "v1.2.3\n", "v1.2.4\n", "1.5s 30MiB 0x1f\n", "[1, 2, nan]\n", "1e400\n", "-0.0 0\n",
    "many words\n" * 30, "ü <b>&\"'\n", "", "Execution time: 2 minutes\n", "100 101 3\n", "100.00005 101 3\n",
)  # fmt: skip
STDERR: Final = (
    "/tmp/ipykernel_1/2.py:1: FutureWarning: old\n  f()\n",
    "/tmp/ipykernel_77/9.py:1: FutureWarning: old\n  f()\n",
    "WARNING:root:low on memory\n",
    "Traceback (most recent call last)\n",
    "x.py:3: UserWarning: told\n",
)
SOURCES: Final = (
    "x = 1", "assert x == 1", "np.testing.assert_allclose(a, b)", "!curl -f http://x", "!ls\nassert _exit_code == 0",
    "%%bash\n!ls", "out = !ls", "%sx ls", "import sys\nsys.exit()", "exit(0)", "quit()", "if x:\n  !ls", "def (", "",
    "%system ls",
)  # fmt: skip
VALUES: Final[tuple[dict[str, Any], ...]] = (
    {"types": ["pandas.core.frame.DataFrame", "builtins.object"], "shape": [3, 10], "length": 3, "number": None},
    {"types": ["builtins.float", "builtins.object"], "shape": None, "length": None, "number": "0.75"},
    {"types": ["builtins.float"], "shape": None, "length": None, "number": "nan"},
    {"types": ["builtins.list"], "shape": [0], "length": 0, "number": None},
    {},
)
EXPECTED: Final[tuple[dict[str, Any], ...]] = (
    {"type": "pandas.DataFrame"}, {"type": "DataFrame"}, {"type": "builtins.float"}, {"shape": "-1,10"},
    {"shape": "(3,)"}, {"minValue": "0.5"}, {"maxValue": "0.5"}, {"notEmpty": True}, {},
)  # fmt: skip


def picture(text: str) -> str:
    return b64encode(text.encode()).decode()


def drawn_output(dice: Random) -> dict[str, Any]:
    line = dice.choice(LINES)
    luck = dice.randrange(9)
    if luck < 3:
        return printed([line, dice.choice(LINES)] if luck else line)
    if luck == 3:
        return printed(dice.choice(STDERR), "stderr")
    if luck == 4:
        return error("ValueError", dice.choice(("no", "yes")), "\x1b[31mTraceback\x1b[0m", f"line {dice.randint(1, 2)}")
    if luck == 5:
        mime = dice.choice(("image/png", "image/jpeg", "audio/wav"))
        return shown({mime: dice.choice((picture("a"), picture("b"), "no base64!")), "text/plain": "<Figure>"})
    if luck == 6:
        value = dice.choice(
            ({"a": [1, 2.00001, "x"]}, {"a": [1, 2.0, "x"]}, {"a": [1], "b": None}, [True], [1], "text")
        )
        mime = dice.choice(("application/json", "application/geo+json", "application/vnd.jupyter.widget-view+json"))
        return shown({mime: value})
    html = dice.choice(("", "<table><tr><td>nan</td></tr></table>"))
    return result(line.strip(), dice.randint(1, 3), html)


def drawn_cell(dice: Random) -> Cell:
    luck = dice.random()
    if luck < 0.15:
        return markdown(dice.choice(("# Title", "text\nmore", "text")))
    if luck < 0.2:
        return raw(dice.choice(("x", "y")))
    outputs = [drawn_output(dice) for _ in range(dice.choice((0, 1, 1, 2, 3)))]
    tags = dice.choice(((), (), (), ("skip-execution",), ("parameters",)))
    made = code(dice.choice(SOURCES), *outputs, tags=tags, count=dice.choice((None, 1, 2)))
    if dice.random() < 0.4:
        made["metadata"][METADATA_KEY] = {"value": dice.choice(VALUES)}
    return made


def nearly(dice: Random, made: dict[str, Any]) -> dict[str, Any]:
    """A golden notebook that is much like the one that ran."""
    golden = copy.deepcopy(made)
    cells = golden["cells"]
    for index in range(len(cells)):
        if dice.random() < 0.3:
            cells[index] = drawn_cell(dice)
        elif dice.random() < 0.5:
            for output in cells[index].get("outputs", ()):
                if output["output_type"] == "stream":
                    output["text"] = dice.choice((output["text"], dice.choice(LINES)))
    if dice.random() < 0.2:
        cells.append(drawn_cell(dice))
    if cells and dice.random() < 0.2:
        del cells[dice.randrange(len(cells))]
    return golden


def drawn_settings(dice: Random) -> dict[str, Any]:
    flags = ("strictMode", "failOnStderr", "failOnWarnings", "requireExplicitExitCodes", "checkOutputTypes")
    more = ("verifyAssertions", "detectSilentFailures")
    validation: dict[str, Any] = {name: dice.random() < 0.5 for name in (*flags, *more) if dice.random() < 0.2}
    if dice.random() < 0.5:
        validation["level"] = dice.choice(("learning", "development", "staging", "production"))
    if dice.random() < 0.5:
        wanted = [{"cell": dice.randint(0, 4), **dice.choice(EXPECTED)} for _ in range(dice.randint(1, 3))]
        validation["expectedOutputs"] = wanted
    comparison: dict[str, Any] = {"strategy": dice.choice(("exact", "normalized", "normalized", ""))}
    names = ("timestamps", "addresses", "paths", "uuids", "ansi", "whitespace")
    comparison["normalizers"] = dice.sample(names, dice.randint(0, 6))
    parts: dict[str, Any] = {
        "floatingPointTolerance": dice.choice(("0", "0.1", 0.01)),
        "relativeTolerance": dice.choice(("0", "0.5")),
        "ignoreTimestamps": False,
        "ignoreExecutionCount": False,
        "ignoreOutputTypes": dice.sample(("stderr", "image/*", "error", "display_data", "text/html", "stream"), 2),
        "customTimestampPatterns": [r"v\d+\.\d+\.\d+"],
    }
    comparison |= {name: value for name, value in parts.items() if dice.random() < 0.3}
    return {"notebook": "a.ipynb", "golden": "", "comparison": comparison, "validation": validation}


def drawn_execution(dice: Random, made: dict[str, Any]) -> Execution:
    count = len(made["cells"])
    reached = dice.choice((count, count, count, dice.randint(0, count)))
    cells = [
        CellRun(SUCCESS, dice.choice((0.0, 0.0004, 0.25, 61.5, 3700.0)))
        if each["cell_type"] == "code" and index < reached
        else CellRun(SKIPPED)
        for index, each in enumerate(made["cells"])
    ]
    end = None
    if reached < count and dice.random() < 0.8:
        if dice.random() < 0.6:
            cells[reached] = CellRun(FAILURE, 1.5, "ValueError: no")
            end = EarlyEnd("Failed", "NotebookExecutionFailed", f"cell {reached} failed")
        else:
            end = EarlyEnd("Error", "KernelDied", "the kernel died")
    exited = reached if end is None and reached < count else None
    if exited is not None:
        cells[exited] = CellRun(SUCCESS, 0.1)
    return Execution(made, cells, end, reached, exited, {"python": "3.12"} if dice.random() < 0.5 else {})


def told(dice: Random) -> str:
    made = notebook(*(drawn_cell(dice) for _ in range(dice.randint(0, 5))))
    settings = RunnerSettings.from_json(json.dumps(drawn_settings(dice)))
    golden = nearly(dice, made) if dice.random() < 0.8 else None
    saved = nearly(dice, made)
    execution = drawn_execution(dice, made)
    found = verdict(execution, settings, saved, golden)
    most = dice.choice((384 << 10, 384 << 10, 900, 400, 10))
    page = report_page("a.ipynb", made, golden, found, settings)
    lines = [f"exit code {found.exit_code}", json.dumps(found.to_data(), indent=0, sort_keys=True)]
    lines.append(f"in {most} bytes: {payload_of(fitted(found, most)).decode()}")
    if dice.random() < 0.2:
        short = with_short_outputs(made, dice.choice((0, 5, 40)))
        lines += [page, json.dumps(short, indent=0, sort_keys=True)]
        late = execution_result(execution, EarlyEnd("Error", "TimedOut", "too late"))
        lines.append(json.dumps(late.to_data(), indent=0, sort_keys=True))
    return "\n".join(lines)


def test_every_drawn_run_is_judged_as_recorded() -> None:
    same_as_recorded("notebook-runs", {f"run {number}": told(Random(f"run/{number}")) for number in range(RUNS)})


WHOLE: Final[dict[str, Any]] = {
    "notebook": "a.ipynb",
    "golden": "g.ipynb",
    "parameters": {"x": 1},
    "timeoutSeconds": 60,
    "cellTimeoutSeconds": 5.5,
    "output": "/out",
    "comparison": {"strategy": "exact", "normalizers": ["uuids"], "customTimestampPatterns": ["a+"]},
    "validation": {"level": "staging", "strictMode": True, "expectedOutputs": [{"cell": 1, "shape": "(3,4)"}]},
}
ANYTHING: Final[tuple[Any, ...]] = (
    None,
    "",
    "x",
    "1",
    0,
    1,
    -1,
    1.5,
    True,
    False,
    [],
    ["x"],
    [1],
    {},
    {"x": 1},
    {"class": 1},
    [{}],
    "nan",
    "exact",
)
FIELDS: Final = (
    *((name,) for name in WHOLE),
    *(("comparison", name) for name in (
        "strategy", "floatingPointTolerance", "relativeTolerance", "ignoreTimestamps", "ignoreExecutionCount",
        "ignoreOutputTypes", "customTimestampPatterns", "normalizers",
    )),
    *(("validation", name) for name in (
        "level", "strictMode", "failOnStderr", "failOnWarnings", "requireExplicitExitCodes", "checkOutputTypes",
        "verifyAssertions", "detectSilentFailures", "expectedOutputs",
    )),
    *(("validation", "expectedOutputs", 0, name) for name in (
        "cell", "type", "shape", "minValue", "maxValue", "notEmpty",
    )),
)  # fmt: skip


def read(text: str) -> str:
    try:
        return str(RunnerSettings.from_json(text))
    except SettingsError as problem:
        return f"refused: {problem}"


def test_every_drawn_setting_is_read_as_recorded() -> None:
    found = {
        text: read(text) for text in ("", "x", "[]", "{}", '{"notebook": 1}', '{"notebook": "a"}', json.dumps(WHOLE))
    }
    for path in FIELDS:
        for value in (*ANYTHING, "(", "(3,)", "3,x", "-1", "1e3", ["("], ["timestamps", "x"]):
            changed = copy.deepcopy(WHOLE)
            place: Any = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
            found[f"{'.'.join(map(str, path))}={json.dumps(value)}"] = read(json.dumps(changed))
    same_as_recorded("notebook-settings", found)
