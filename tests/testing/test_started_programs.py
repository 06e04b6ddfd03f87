"""What is started for tests: the programs of a real control plane and of both homes, with every flag."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.testing import controlplane, homes, node
from mooring.testing.controlplane import EVERY_REQUEST, ControlPlane, write_kubeconfig
from mooring.testing.homes import EMBEDDED, REAL, Home, api_only, home_in, simulated, whole
from mooring.testing.http import Answer
from tests.support.golden import same_as_recorded

USERS = {"ada": ("dev", "ops"), "bob": ()}


class Stage:
    """Stands in for every program: tells what was started, waited for and stopped, in order."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.said = folder, list[str]()
        self.codes: Mapping[str, int] = {}
        stage = self

        class Program:
            pid = 7

            def __init__(self, command: Sequence[Any], log: Path, environment: object = None) -> None:
                self.name = Path(str(command[0])).name
                stage.say("start", *command, "into", log)

            def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
                stage.say(self.name, "has", seconds, "s:", ready())

            def stop(self) -> int:
                stage.say("stop", self.name)
                return 0

            def kill(self) -> int:
                stage.say("kill", self.name)
                return -9

        class Server:
            def __init__(self, url: str, token: str | None, ca: Path) -> None:
                self.token = token
                stage.say("client of", url, "as", token, "trusting", ca)

            def __enter__(self) -> Server:
                return self

            def __exit__(self, *_: object) -> None:
                stage.say("client closed")

            def get(self, path: str, **query: str) -> Answer:
                return self._answer("get", path, query, _roles(path))

            def post(self, path: str, body: Any) -> Answer:
                return self._answer("post", path, body, "the reason")

            def patch(self, path: str, kind: str, body: Any) -> Answer:
                return self._answer(f"patch {kind}", path, body, "the reason")

            def _answer(self, verb: str, path: str, said: object, body: Any) -> Answer:
                stage.say(verb, path, said)
                return Answer(stage.codes.get(verb, 200), {}, body)  # type: ignore[arg-type]

        ports = iter(range(10001, 10100))
        for module in (controlplane, homes):
            monkeypatch.setattr(module, "ProgramProcess", Program)
            monkeypatch.setattr(module, "free_port", lambda: next(ports))
            monkeypatch.setattr(module, "answers", self._answers)
        monkeypatch.setattr(homes, "Api", Server)
        monkeypatch.setattr("sys.executable", "/bin/python")
        monkeypatch.setattr(controlplane, "tool", lambda name: Path("/bin") / name)
        secrets = iter(f"secret-{number}" for number in range(100))
        monkeypatch.setattr("secrets.token_urlsafe", lambda size: f"{next(secrets)}-of-{size}")
        given = iter(f"token-{number}" for number in range(100))

        def put_token(path: Path, user: str, groups: Sequence[str]) -> str:
            self.say("token of", user, list(groups), "in", path)
            return next(given)

        monkeypatch.setattr(homes, "put_token", put_token)

    def _answers(self, url: str, ca: Path | None = None) -> str:
        return f"{url} answers, trusting {ca}"

    def say(self, *words: object) -> None:
        self.said.append(" ".join(map(str, words)).replace(str(self.folder), "DIR"))

    def read(self, path: Path) -> None:
        text = re.sub(r"authority-data: \S+", "authority-data: ...", path.read_text(encoding="utf-8"))
        self.say(f"{path}{private(path)}:\n{text}")

    def home(self, home: Home) -> None:
        self.say(*(f"{name}={getattr(home, name)}" for name in ("name", "url", "token", "ca", "kubeconfig")))
        self.say(home.folder, dict(home.tokens))
        home.api()
        for user in (*home.tokens, None):
            home.api_as(user)


def private(path: Path) -> str:
    """Others than the owner get what their umask leaves them, or nothing."""
    return "" if path.suffix == ".yaml" else f" {oct(path.stat().st_mode)[-3:]}"


def _roles(path: str) -> object:
    if path.endswith("/clusterroles"):
        names = ("view", "part", "edit")
        return {"items": [{"metadata": {"name": name}, "rules": [name] if name != "edit" else None} for name in names]}
    return {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": path.rpartition("/")[2], "b": "c"}}]}}


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def planes(stage: Stage) -> Iterator[tuple[str, Callable[[], None]]]:
    def plain() -> None:
        with ControlPlane(stage.folder / "a") as plane:
            stage.say(plane.pids(), plane.url, plane.ca, plane.etcd_url)
            stage.read(stage.folder / "a" / "tokens.csv")
            stage.read(plane.kubeconfig)
            key = stage.folder / "a" / "serviceaccount.key"
            stage.say(f"{key}{private(key)}", key.read_text(encoding="utf-8").splitlines()[0])
            plane.kill_api_server()
            stage.say(plane.pids())

    def everything() -> None:
        plane = ControlPlane(
            stage.folder / "b" / "c",
            controlplane.EXTRAS,
            fsync=True,
            gates=("A=true", "B=false"),
            flags=("--more=1",),
            users=USERS,
            host="127.0.0.2",
            audit=EVERY_REQUEST,
        )
        plane.start()
        stage.read(stage.folder / "b" / "c" / "tokens.csv")
        stage.read(stage.folder / "b" / "c" / "audit.yaml")
        stage.home(home_in(plane))
        plane.kill_api_server()
        plane.stop()
        stage.say(plane.pids())

    yield "a control plane", plain
    yield "a control plane of everything", everything


def both_homes(stage: Stage) -> Iterator[tuple[str, Callable[[], None]]]:
    def entered(name: str, start: Any, *arguments: Any, **more: Any) -> Callable[[], None]:
        def run() -> None:
            folder = stage.folder / name
            if start is whole and arguments[0] == EMBEDDED:
                folder.mkdir()
                write_kubeconfig(folder / "kubeconfig", "up", "https://127.0.0.1:6443", Path(__file__), "from-up")
            with start(arguments[0], folder, *arguments[1:], **more) as home:
                stage.say("---")
                stage.home(home)
                if start is api_only:
                    stage.read(home.kubeconfig)
                    (folder / "audit.log").write_text('{"a": 1}\n{"b": 2}\n{"c"', encoding="utf-8")
                    stage.say(home.audited())
                if (folder / "fleet.yaml").exists():
                    stage.read(folder / "fleet.yaml")

        return run

    nodes = [node("n1", cpu="1"), node("n2", cpu="2")]
    nodes[1]["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "real", "a": "b"}
    for kind in (EMBEDDED, REAL):
        stage_of = f"{kind} API"
        yield stage_of, entered(f"{kind}-api", api_only, kind)
        yield f"{stage_of} with users", entered(f"{kind}-users", api_only, kind, USERS)
        yield f"{kind} cluster", entered(f"{kind}-whole", whole, kind)
        more: dict[str, Any] = {"run_arguments": ("--more", "x"), "host": "127.0.0.2", "up_arguments": ("--up", "y")}
        yield f"{kind} cluster of everything", entered(f"{kind}-all", whole, kind, nodes, **more)


def test_every_program_gets_its_flags_and_is_stopped(stage: Stage) -> None:
    told: dict[str, str] = {}
    stage.codes = {"post": 201}
    for case, run in [*planes(stage), *both_homes(stage)]:
        stage.said.clear()
        run()
        told[case] = "\n".join(stage.said)
    same_as_recorded("started-programs", told)


@contextmanager
def stopped_again(stage: Stage, *names: str) -> Iterator[None]:
    yield
    started = [line.split()[1].rpartition("/")[2] for line in stage.said if line.startswith("start ")]
    assert started == list(names)
    stopped = [line.removeprefix("stop ") for line in stage.said if line.startswith("stop ")]
    assert stopped == list(reversed(names))


def test_a_node_or_a_role_that_is_refused_stops_everything(stage: Stage) -> None:
    stage.codes = {"post": 422}
    with (
        stopped_again(stage, "etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"),
        pytest.raises(ValueError, match=r"^Node n1 was refused: the reason$"),
        whole(REAL, stage.folder / "a", [node("n1")]),
    ):
        pass
    stage.said.clear()
    stage.codes = {"patch merge": 403}
    with (
        stopped_again(stage, "python"),
        pytest.raises(ValueError, match=r"^ClusterRole view was refused: the reason$"),
        api_only(EMBEDDED, stage.folder / "b", USERS),
    ):
        pass


def test_a_program_that_does_not_come_up_takes_those_before_it_along(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Path:
        if name == "kube-scheduler":
            raise OSError(name)
        return Path("/bin") / name

    monkeypatch.setattr(controlplane, "tool", missing)
    plane = ControlPlane(stage.folder / "a", controlplane.EXTRAS)
    with stopped_again(stage, "etcd", "kube-apiserver"), pytest.raises(OSError, match="kube-scheduler"):
        plane.start()
    assert plane.pids() == {}


def test_what_mooring_calls_a_simulated_node_keeps_its_own_word() -> None:
    plain = {"metadata": {"name": "n"}}
    assert simulated(plain) == {"metadata": {"name": "n", "annotations": {"kwok.x-k8s.io/node": "fake"}}}
    assert plain == {"metadata": {"name": "n"}}


def test_a_kubeconfig_has_one_of_everything(tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_bytes(b"ca")
    write_kubeconfig(tmp_path / "k", "real", "https://a", authority, "t")
    assert yaml.safe_load((tmp_path / "k").read_text(encoding="utf-8")) == {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "real",
        "clusters": [{"name": "real", "cluster": {"server": "https://a", "certificate-authority-data": "Y2E="}}],
        "users": [{"name": "real", "user": {"token": "t"}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "real"}}],
    }
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
