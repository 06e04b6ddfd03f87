"""The validation pod on a process node: what its containers see, as whom they run, and what they leave.

Real clones over real servers; the runner is a stand-in that says what it finds.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.validation_pod.config_map import runner_config_map
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.kube.objects import Object
from tests.features.notebooks.clones import NOTEBOOK, shows
from tests.nodes.process.home import NODE, Home, needs_sandbox, play
from tests.support.git_servers import (
    GitRepository,
    HttpGitServer,
    SshGitServer,
    http_git_server,
    needs_sshd,
    ssh_git_server,
)

pytestmark = needs_sandbox

USER, PASSWORD = "alice", "Tr0ub4dor&3-correct-horse"
STAND_IN = """
import json, os, sys
settings = json.load(open(sys.argv[1]))
for place in ("/workspace/x", "/home/jovyan/x", os.path.dirname(settings["notebook"]) + "/x"):
    open(place, "w").close()
found = {name: open(settings[name]).read() for name in ("notebook", "golden") if name in settings}
found |= {"user": os.getuid(), "home": os.environ["HOME"], "python": sys.prefix}
found["credentials"] = os.path.exists("/mooring-credentials")
import nbclient, nbformat, ipykernel
print(json.dumps(found))
"""


def stand_in() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("__main__.py", STAND_IN)
    return made.getvalue()


def source(url: str, path: str = NOTEBOOK, secret: str = "") -> Object:
    return {"git": {"url": url, "ref": "main", **({"credentialsSecret": secret} if secret else {})}, "path": path}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repositories")
    GitRepository(root, "private.git").commit({NOTEBOOK: "a notebook", "gold.ipynb": "a golden one"})
    return root


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[HttpGitServer]:
    with http_git_server(HttpGitServer(root, USER, PASSWORD)) as server:
        yield server


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshGitServer]:
    with ssh_git_server(tmp_path_factory.mktemp("ssh")) as server:
        yield server


class Node:
    """A process node that is given the pods of jobs."""

    def __init__(self, at: Home) -> None:
        self.at = at

    def secret(self, name: str, **data: str) -> None:
        encoded = {key.replace("_", "-"): base64.b64encode(text.encode()).decode() for key, text in data.items()}
        self.at.create({"metadata": {"name": name}, "data": encoded}, "Secret")

    async def runs(self, **spec: Object) -> Object:
        """The pod of a job with this spec, when it has ended."""
        body = {
            "metadata": {"name": "job", "namespace": "default", "uid": "u-1"},
            "spec": {"podConfig": {"containerImage": "any"}, **spec},
        }
        job = msgspec.convert(body, NotebookValidationJob)
        self.at.create(runner_config_map(job, stand_in()), "ConfigMap")
        pod = validation_pod(job)
        pod["spec"]["nodeName"] = NODE
        self.at.create(pod)
        name = pod["metadata"]["name"]
        await self.at.until(lambda: self.at.get(name)["status"].get("phase") in ("Succeeded", "Failed"), "it ends")
        return self.at.get(name)

    async def logs(self) -> list[str]:
        return [await self.at.log("job-validation", name) for name in ("git-clone", "validator")]

    def everything(self) -> bytes:
        """All that the API shows of it, Secrets apart."""
        kinds = ("Pod", "ConfigMap", "Event")
        listed = [self.at.registry.list(self.at.registry.resource("v1", kind)).items for kind in kinds]
        return json.dumps(listed, default=str).encode()


def on_a_node(story: Callable[[Node], Awaitable[None]], folder: Path) -> None:
    async def told(at: Home) -> None:
        await story(Node(at))

    play(told, folder)


def test_a_pod_with_credentials_and_a_golden_notebook(server: HttpGitServer, tmp_path: Path) -> None:
    url = f"{server.url}/private.git"

    async def story(node: Node) -> None:
        node.secret("git", username=USER, password=PASSWORD)
        pod = await node.runs(notebook=source(url, secret="git"), goldenNotebook=source(url, "gold.ipynb", "git"))
        cloning, running = await node.logs()
        assert pod["status"]["phase"] == "Succeeded", running
        ended = [each["state"]["terminated"] for each in pod["status"]["initContainerStatuses"]]
        assert [each["message"].startswith(f"Cloned {url} at main, commit ") for each in ended] == [True, True]
        found = json.loads(running)
        assert (found["notebook"], found["golden"]) == ("a notebook", "a golden one")
        assert found["user"] != 0
        assert (found["home"], found["credentials"]) == ("/workspace", False)
        assert not shows(node.everything() + cloning.encode() + running.encode(), PASSWORD)

    on_a_node(story, tmp_path)


@needs_sshd
def test_a_pod_with_a_key(ssh: SshGitServer, root: Path, tmp_path: Path) -> None:
    async def story(node: Node) -> None:
        node.secret("git", ssh_privatekey=ssh.private_key)
        pod = await node.runs(notebook=source(f"{ssh.url}{root}/private.git", secret="git"))
        cloning, running = await node.logs()
        assert pod["status"]["phase"] == "Succeeded", cloning + running
        assert not shows(node.everything() + cloning.encode(), *ssh.private_key.split("\n")[1:-2])

    on_a_node(story, tmp_path)


def test_a_clone_that_fails_ends_the_pod_with_its_sentence(server: HttpGitServer, tmp_path: Path) -> None:
    async def story(node: Node) -> None:
        pod = await node.runs(notebook=source(f"{server.url}/private.git", secret="missing"))
        assert pod["status"]["phase"] == "Failed"
        ended = pod["status"]["initContainerStatuses"][0]["state"]["terminated"]
        assert ended["exitCode"] == 2
        assert ended["message"].startswith("Nothing is in the Secret that credentialsSecret names")
        assert "terminated" not in pod["status"]["containerStatuses"][0]["state"]

    on_a_node(story, tmp_path)
