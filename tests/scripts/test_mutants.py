"""The tool that measures the tests: which faults it knows, whom it asks about them, and what it says."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from scripts.made import ROOT
from scripts.mutants import plugin
from scripts.mutants.__main__ import difference
from scripts.mutants.explained import FILE, changed_lines, explanations, reason
from scripts.mutants.homes import test_folders as folders_of
from scripts.mutants.imports import ImportGraph
from scripts.mutants.ledger import AWAY, KILLED, LIVES, Ledger, Sight
from scripts.mutants.mutations import KINDS, mutations
from scripts.mutants.probes import PROBE_MODULE, TESTS, with_probes
from scripts.mutants.programs import finished, own_mounts
from scripts.mutants.runs import Court, Verdict
from scripts.mutants.sample import draw, every_mutation
from scripts.mutants.trees import Tree

MODULE = Path("src/mooring/kube/sample.py")


def faults(text: str) -> list[tuple[str, str]]:
    """What becomes of the changed lines, and the kind of the change."""
    source = dedent(text).encode()
    return [(each.kind, changed_lines(each, source)[1]) for each in mutations(MODULE, source)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    if a: g()", [("negated condition", "if not (a): g()"), ("dropped statement", "if a: pass")]),
        ("def f():\n    while not a:\n        pass", [("negated condition", "while a:")]),
        ("def f():\n    return b if not (a or c) else d", [
            ("negated condition", "return b if (a or c) else d"),
            ("swapped operator", "return b if not (a and c) else d"),
        ]),
        ("def f():\n    return [a for a in b if a]", [("negated condition", "return [a for a in b if not (a)]")]),
        ("def f():\n    return (a) < (b)", [("swapped operator", "return (a) <= (b)")]),
        ("def f():\n    return a not in b", [("swapped operator", "return a in b")]),
        ("def f():\n    return a is  not b", [("swapped operator", "return a is b")]),
        ("def f():\n    return a < b == c", [
            ("swapped operator", "return a <= b == c"), ("swapped operator", "return a < b != c")]),
        ("def f(a=3, *, b=True): return a", [
            ("changed default", "def f(a=4, *, b=True): return a"),
            ("changed default", "def f(a=3, *, b=False): return a"),
        ]),
        ("LIMIT = 5", [("changed constant", "LIMIT = 6")]),
        ("WAIT = 0.5", [("changed constant", "WAIT = 1.0")]),
        ("KEY = 'é', 'spec'", [("changed constant", "KEY = 'éx', 'spec'"), ("changed constant", "KEY = 'é', 'specx'")]),
        ("def f():\n    self.a = b", [("dropped statement", "pass")]),
        ("def f():\n    raise a", [("dropped statement", "pass")]),
        ("def f():\n    match a:\n        case 'x' if b: return c", [
            ("changed constant", "case 'xx' if b: return c"), ("negated condition", "case 'x' if not (b): return c")
        ]),
    ],
)  # fmt: skip
def test_what_becomes_of_a_line(text: str, expected: list[tuple[str, str]]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'def f():\n    """Says why."""\n    return a',
        "from __future__ import annotations",
        "if TYPE_CHECKING:\n    KEY = 'a'",
        "if __name__ == '__main__':\n    main()",
        "a: Literal['b'] = c",
        "Name = Literal['a', 'b']",
        "T = TypeVar('T')",
        "__all__ = ['a']",
        "@dataclass(frozen=True)\nclass A(B, tag='a'):\n    a: int",
        "def f():\n    _log.info('news', a)",
        "def f():\n    return 'a sentence for people'",
        "def f():\n    return f'{a} is'",
        "def f():\n    b = a\n    return b",
        "assert a > b",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert faults(text) == []


def test_every_fault_of_a_real_module_can_be_compiled_and_changes_it() -> None:
    path = ROOT / "src/mooring/kube/versions.py"
    source = path.read_bytes()
    found = mutations(path, source)
    assert len(found) > 20
    for each in found:
        changed = each.applied(source)
        assert changed != source
        compile(changed, str(path), "exec")
        assert difference(each, source).count("\n-") >= 1


# The draw


def test_a_seed_draws_the_same_sample_again_and_another_draws_another() -> None:
    found = every_mutation(ROOT, "kube")
    assert draw(found, 1, 20) == draw(found, 1, 20)
    assert draw(found, 1, 20) != draw(found, 2, 20)
    assert len(set(draw(found, 1, 500))) == 500


def test_a_line_that_goes_or_comes_does_not_redraw_the_rest() -> None:
    source = (ROOT / "src/mooring/kube/versions.py").read_bytes()
    before = {each.in_line + each.text for each in draw(mutations(MODULE, source), 1, 12)}
    longer = b"\n".join([source, b"def f(a):", b"    return a < 3"])
    after = {each.in_line + each.text for each in draw(mutations(MODULE, longer), 1, 12)}
    assert len(before - after) <= 2


def test_a_small_package_gives_what_it_has() -> None:
    found = every_mutation(ROOT, "kube/versions.py")
    assert sorted(map(repr, draw(found, 1, 10_000))) == sorted(map(repr, found))


def test_a_package_that_is_not_there_is_said() -> None:
    with pytest.raises(SystemExit, match="there is no package or module src/mooring/ghosts"):
        every_mutation(ROOT, "ghosts")


# Who is asked


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("builtin/apps/daemonset/nodes.py", ["tests/builtin/apps/daemonset", "tests/builtin/apps", "tests/builtin"]),
        ("features/groups/api.py", ["tests/features/groups", "tests/features/declared"]),
        ("api/networking/a.py", ["tests/api", "tests/conformance/drawn", "tests/registry", "tests/conformance"]),
        ("kube/cel/environment.py", ["tests/kube/cel", "tests/kube", "tests/registry", "tests/conformance/drawn"]),
        ("apiserver/webhooks/told.py", ["tests/apiserver/webhooks", "tests/apiserver", "tests/conformance"]),
        ("supervisor/logs.py", ["tests/supervisor", "tests/cli", "tests/runtime", "tests/apiserver"]),
    ],
)
def test_the_folders_of_a_modules_tests(module: str, expected: list[str]) -> None:
    assert folders_of(ROOT, Path("src/mooring") / module) == expected


def test_every_package_has_tests_somewhere() -> None:
    modules = [path.relative_to(ROOT) for path in (ROOT / "src/mooring").rglob("*.py") if path.name != "__init__.py"]
    assert [path for path in modules if not folders_of(ROOT, path)] == []


def test_the_nearest_tests_are_those_that_import_the_module(tmp_path: Path) -> None:
    here = checkout(tmp_path)
    graph = ImportGraph(here)
    assert graph.nearest_tests(MODULE, ["tests/kube"]) == ["tests/kube/test_sample.py", "tests/kube/test_nothing.py"]
    assert graph.nearest_tests(Path("src/mooring/kube/used.py"), ["tests/kube", "tests/net"]) == [
        "tests/kube/test_sample.py",
        "tests/net/test_used.py",
        "tests/kube/test_nothing.py",
    ]


def test_a_probe_changes_nothing_but_leaves_a_mark(tmp_path: Path) -> None:
    """With the text of the fault replaced by what was there before, the program is what it was."""
    source = dedent('''
        """Why."""
        from __future__ import annotations

        def grade(points, limit=10, *, names=("a",)):
            """Says it."""
            if (found := points) and found > limit: return "high"
            elif points == 0:
                pass
            else:
                @str
                def label(): return points
                names += (label,)
            match points:
                case 0: return "none"
            return [n for n in names if n != "x"][0] if points < 5 else "low"

        print(grade(20), grade(3), grade(7), grade(0))
        ''').encode()
    (tmp_path / "mutant_probe.py").write_text(PROBE_MODULE, encoding="utf-8")
    faults = [each for each in mutations(MODULE, source) if each.probe is not None]
    assert {each.kind for each in faults} == set(KINDS)
    names = {str(number): each for number, each in enumerate(faults)}
    cases = [(with_probes(source, names), set(names))]
    for name, fault in names.items():
        same = replace(fault, text=source[fault.span.start : fault.span.end].decode())
        cases.append((with_probes(source, {name: fault}, same), {name}))
    marks = tmp_path / "marks"
    for program, expected in cases:
        marks.write_text("", encoding="utf-8")
        (tmp_path / "program.py").write_bytes(program)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patched:
            patched.setenv("MUTANT_MARKS", str(marks))
            patched.syspath_prepend(str(tmp_path))
            patched.delitem(sys.modules, "mutant_probe", raising=False)
            patched.setitem(sys.modules, "scripts.mutants.plugin", plugin)
            runpy.run_path(str(tmp_path / "program.py"))
        assert printed.getvalue() == "high a low none\n"
        rows = [line.split("\t") for line in marks.read_text(encoding="utf-8").splitlines()]
        assert {name for name, _, _ in rows} == expected
        assert {by for _, by, _ in rows} == {TESTS}
        assert all("test_a_probe_changes_nothing" in test for _, _, test in rows)


# The whole way


def checkout(folder: Path) -> Path:
    """A repository of one module: of its faults two are noticed, one is not, one is reached by nobody."""
    files = {
        "src/mooring/__init__.py": "",
        "src/mooring/kube/__init__.py": "",
        "src/mooring/kube/sample.py": """
            from mooring.kube.used import used

            def larger(a, b):
                if a > b:
                    return a
                return b

            def unused(a):
                return a == larger

            def chosen(a, b):
                return b if a else None
            """,
        "tests/kube/test_sample.py": """
            import pytest

            from mooring.kube.sample import larger

            @pytest.mark.parametrize("home", ["real"])
            def test_what_runs_elsewhere(home):
                assert larger(2, 1) == 1

            def test_the_larger_one():
                assert larger(2, 1) == 2
                assert larger(1, 2) == 2
            """,
        "src/mooring/kube/used.py": "def used(a): return a",
        "tests/kube/test_nothing.py": "def test_nothing(): pass",
        # Beyond the files that are tried first.
        **{f"tests/registry/test_{number}.py": "def test_nothing(): pass" for number in range(3)},
        "tests/registry/test_z.py": """
            import mooring.kube.sample as sample

            def test_what_only_a_far_test_sees():
                assert sample.chosen(True, 2) == 2
            """,
        "tests/net/test_used.py": "from mooring.kube.used import used\n\ndef test_used(): assert used",
        "tests/conftest.py": "from hypothesis import settings\nsettings.register_profile('ci')\n",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\nmarkers = ["slow"]\n',
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text), encoding="utf-8")
    plugin = (ROOT / "scripts/mutants/plugin.py").read_text(encoding="utf-8")
    (folder / "scripts/mutants").mkdir(parents=True)
    (folder / "scripts/mutants/plugin.py").write_text(plugin, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


def judged(here: Path, copy: Path, everywhere: bool = False) -> list[tuple[str, str, str]]:
    tree, told = Tree(here, copy), list[Verdict]()
    court = Court([tree], Ledger(here, here / ".mutants/seen.jsonl"), 10, everywhere)
    found = court.verdicts(every_mutation(here, None), told.append)
    assert sorted(map(repr, told)) == sorted(map(repr, found))
    original = (here / MODULE).read_bytes()
    assert (tree.folder / MODULE).read_bytes() == original
    return [(difference(each.mutation, original).splitlines()[0], each.outcome, each.note) for each in found]


def test_a_fault_is_killed_survives_or_is_reached_by_nobody(tmp_path: Path) -> None:
    """Asked again, nothing is run but what has changed."""
    here = checkout(tmp_path / "checkout")
    found = judged(here, tmp_path / "first")
    assert [(name, outcome) for name, outcome, _ in found] == [
        (f"{MODULE}:5 negated condition", "killed"),
        # Where both are equal it makes no difference which one is returned.
        (f"{MODULE}:5 swapped operator", "survived"),
        (f"{MODULE}:10 swapped operator", "unreached"),
        (f"{MODULE}:13 negated condition", "killed"),
    ]
    assert "test_the_larger_one" in found[0][2]
    assert "test_what_only_a_far_test_sees" in found[3][2]
    seen = (here / ".mutants/seen.jsonl").read_text(encoding="utf-8")
    assert judged(here, tmp_path / "second") == found
    assert (here / ".mutants/seen.jsonl").read_text(encoding="utf-8") == seen
    test = here / "tests/kube/test_nothing.py"
    test.write_text("from mooring.kube.sample import unused\n\ndef test_it(): assert not unused(1)\n", encoding="utf-8")
    assert [outcome for _, outcome, _ in judged(here, tmp_path / "third")] == ["killed", "survived", "killed", "killed"]


def test_what_lives_may_be_shown_to_the_tests_of_other_packages(tmp_path: Path) -> None:
    here = checkout(tmp_path / "checkout")
    far = here / "tests/cli/test_commands.py"
    far.parent.mkdir()
    far.write_text("from mooring.kube.sample import unused\n\ndef test_it(): assert not unused(1)\n", encoding="utf-8")
    assert [outcome for _, outcome, _ in judged(here, tmp_path / "near")] == [
        "killed",
        "survived",
        "unreached",
        "killed",
    ]
    found = judged(here, tmp_path / "far", everywhere=True)
    assert [outcome for _, outcome, _ in found] == ["killed", "survived", "killed", "killed"]
    assert "tests/cli/test_commands.py" in found[2][2]


def mounts_below(folder: Path) -> list[str]:
    table = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return [line for line in table.splitlines() if str(folder) in line]


def test_what_a_run_mounts_unmounts_or_kills_is_not_the_machines(tmp_path: Path) -> None:
    """Who is not root can do none of it, and has no need of mounts of its own."""
    here = checkout(tmp_path / "checkout")
    places = {name: tmp_path / name for name in ("source", "made", "undone")}
    for place in places.values():
        place.mkdir()
    program = f"""
        import os, subprocess

        def test_it():
            subprocess.run(["mount", "--bind", "{places["source"]}", "{places["made"]}"])
            subprocess.run(["umount", "{places["undone"]}"])
            with open("/proc/self/mountinfo") as table, open("{tmp_path}/seen", "w") as seen:
                seen.write(table.read() + f"{{os.path.exists('/proc/{os.getpid()}')}}")
        """
    (here / "tests/kube/test_nothing.py").write_text(dedent(program), encoding="utf-8")
    bind = ["mount", "--bind", str(places["source"]), str(places["undone"])]
    assert not own_mounts() or subprocess.run(bind).returncode == 0
    try:
        before = mounts_below(tmp_path)
        done = finished(Tree(here, tmp_path / "copy"), ["tests/kube/test_nothing.py"], 10, 60)
        after = mounts_below(tmp_path)
    finally:
        if own_mounts():
            subprocess.run(["umount", places["undone"]], check=True)
    assert (done.code, after) == (0, before), done.output
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert (bool(before), str(places["made"]) in seen) == (bool(own_mounts()), bool(own_mounts()))
    assert str(places["undone"]) not in seen
    assert seen.endswith("False" if own_mounts() else "True")


def test_what_was_seen_counts_until_the_module_or_the_tests_change(tmp_path: Path) -> None:
    here = checkout(tmp_path)
    path, files = tmp_path / "seen.jsonl", ["tests/kube/test_sample.py", "tests/kube/test_nothing.py"]
    fault = every_mutation(here, None)[0]
    Ledger(here, path).write(fault, [(files[0], Sight(LIVES)), (files[1], Sight(AWAY))])
    ledger = Ledger(here, path)
    assert ledger.is_met(fault, files)
    assert (ledger.unseen(fault, files), ledger.killed_by(fault, files)) == ([], None)
    assert not ledger.is_met(fault, files[1:])
    ledger.write(fault, [(files[1], Sight(KILLED, "by a test"))])
    assert Ledger(here, path).killed_by(fault, files) == "by a test"
    (here / files[1]).write_text("def test_another(): pass", encoding="utf-8")
    assert Ledger(here, path).unseen(fault, files) == files[1:]
    (here / MODULE).write_text("# changed\n" + (here / MODULE).read_text(encoding="utf-8"), encoding="utf-8")
    assert Ledger(here, path).unseen(fault, files) == files


# What was explained


def test_an_explanation_is_found_by_its_line_wherever_that_moved() -> None:
    known = explanations(
        """
        [[survivor]]
        module = "src/mooring/kube/sample.py"
        line = "return a if a > b else b"
        becomes = "return a if a >= b else b"
        reason = "Both are the same there."
        """
    )
    source = b"\n\ndef f():\n    return a if a > b else b\n"
    assert [reason(each, source, known) for each in mutations(MODULE, source)] == [None, "Both are the same there."]


def test_every_explained_survivor_is_still_a_fault_of_its_module() -> None:
    gone = []
    for module, was, becomes in explanations(FILE.read_text(encoding="utf-8")):
        source = (ROOT / module).read_bytes()
        if (was, becomes) not in {changed_lines(each, source) for each in mutations(Path(module), source)}:
            gone.append(f"{module}: {was}")
    assert gone == []
