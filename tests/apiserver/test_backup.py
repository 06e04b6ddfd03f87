"""What a backup holds, who may have one, and what is said of one that is not as it was written."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mooring.apiserver.authentication.users import User
from mooring.apiserver.backup.lines import BackupError, Header, StoredObject, backup_lines, read_objects
from mooring.kube.errors import InputError
from mooring.supervisor.data_folder import DataFolder
from mooring.supervisor.restore import check_backup, restore_backup
from tests.apiserver.sqlite.home import configmap, content, opened, put
from tests.apiserver.world import CONFIGMAPS, Api, failed
from tests.registry.world import config


def lines(**header: Any) -> list[bytes]:
    """A good backup of three objects, line by line."""
    objects = [StoredObject("configmaps", "default", f"c{at}", configmap(f"c{at}", at)) for at in (3, 5, 8)]
    known: dict[str, Any] = {"revision": 9, "data_version": 2, "created": "2026-01-01T00:00:00Z", "mooring": "1"}
    return b"".join(backup_lines(Header(**known | header), objects)).splitlines(keepends=True)


def written(path: Path, backup: list[bytes]) -> Path:
    path.write_bytes(gzip.compress(b"".join(backup)))
    return path


def test_a_backup_is_read_as_it_was_written() -> None:
    assert [stored.name for stored in read_objects(lines(), 2)] == ["c3", "c5", "c8"]


def _header(backup: list[bytes], **fields: Any) -> list[bytes]:
    return [json.dumps(json.loads(backup[0]) | fields).encode() + b"\n", *backup[1:]]


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda backup: [], "its end is missing"),
        (lambda backup: backup[:-1], "its end is missing"),
        (lambda backup: [*backup[:2], *backup[3:]], "it is not as it was written: its checksum is wrong"),
        (lambda backup: [*backup[:3], backup[3].replace(b"c8", b"c9"), backup[4]], "its checksum is wrong"),
        (lambda backup: [*backup, backup[1]], "something follows after its end"),
        (lambda backup: [backup[0], b'["configmaps"]\n', *backup[2:]], "line 2 holds no object: "),
        (lambda backup: [backup[0], backup[1].replace(b'"3"', b'"30"'), *backup[2:]], "its resourceVersion is not one"),
        (lambda backup: [backup[0], b"\xff\n"], "line 2 cannot be read"),
        (lambda backup: [b"{}\n"], "it is no backup of Mooring"),
        (lambda backup: [b"PK\x03\x04\n"], "it is no backup of Mooring"),
        (lambda backup: _header(backup, revision="many"), "its first line cannot be read: Expected `int`"),
        (lambda backup: _header(backup, files={"tokens": "="}), "its first line cannot be read: "),
        (
            lambda backup: _header(backup, version=2, more=[]),
            "it was made by a newer Mooring (backup version 2, this one knows 1); restore it with that one",
        ),
        (lambda backup: _header(backup, dataVersion=7), "it was made by a newer Mooring (data version 7, this one"),
    ],
)
def test_what_is_wrong_with_a_backup_is_said_and_nothing_is_changed(
    tmp_path: Path, harm: Callable[[list[bytes]], list[bytes]], why: str
) -> None:
    file = written(tmp_path / "bad.backup", harm(lines()))
    with pytest.raises(InputError) as caught:
        check_backup(file)
    assert str(caught.value).startswith(f"{file} cannot be restored: ")
    assert why in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.backup"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "its end is missing"),
        (b"not gzip", "it is no backup of Mooring"),
        (gzip.compress(b"".join(lines()))[:-20], "it is damaged or its end is missing"),
    ],
)
def test_a_file_that_cannot_be_unpacked(tmp_path: Path, data: bytes, why: str) -> None:
    file = tmp_path / "bad.backup"
    file.write_bytes(data)
    with pytest.raises(InputError, match=why):
        check_backup(file)


def test_restored_data_begin_behind_every_revision_that_a_client_may_have_seen(tmp_path: Path) -> None:
    file = written(tmp_path / "b", lines(files={"tokens": b"# nobody\n", "../outside": b"# nobody\n"}))
    folder = DataFolder(tmp_path / "cluster")
    header = check_backup(file).end()
    restore_backup(file, header, folder, replace=False)
    assert folder.tokens.read_bytes() == b"# nobody\n"
    assert not (tmp_path / "outside").exists()
    with opened(folder.database) as storage:
        assert content(storage) == {"c3": "", "c5": "", "c8": ""}
        assert storage.revision == 9 + 1_000_000_000
        put(storage, "later")
        storage.commit()
        later = storage.revision

    with pytest.raises(InputError, match="holds a cluster already; name another folder with --data, or put the backup"):
        restore_backup(file, header, folder, replace=False)
    restore_backup(file, header, folder, replace=True)
    with opened(folder.database) as storage:
        assert content(storage) == {"c3": "", "c5": "", "c8": ""}
        assert storage.revision == later + 1_000_000_000


def test_a_restore_that_did_not_end_keeps_the_folder_from_being_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "b", lines(files={"tokens": b"# nobody\n"}))
    folder = DataFolder(tmp_path / "cluster")
    header = check_backup(file).end()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("mooring.supervisor.restore.adopt_database", die)
        with pytest.raises(KeyboardInterrupt):
            restore_backup(file, header, folder, replace=False)
    with pytest.raises(InputError, match="holds half of a backup, because mooring restore did not come to its end"):
        folder.check_whole()
    restore_backup(file, header, folder, replace=False)
    folder.check_whole()
    with opened(folder.database) as storage:
        assert len(content(storage)) == 3


def test_data_of_an_older_version_in_a_backup_are_brought_up(tmp_path: Path) -> None:
    file = written(tmp_path / "b", lines(data_version=1))
    folder = DataFolder(tmp_path / "cluster")
    restore_backup(file, check_backup(file).end(), folder, replace=False)
    with opened(folder.database) as storage:
        assert len(content(storage)) == 3
        assert storage._connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_two_objects_of_one_revision_are_refused(tmp_path: Path) -> None:
    twice = [StoredObject("configmaps", "default", name, configmap(name, 3)) for name in ("a", "b")]
    file = written(tmp_path / "b", [*backup_lines(Header(9, 2, "", ""), twice)])
    folder = DataFolder(tmp_path / "cluster")
    with pytest.raises(InputError, match="two of its objects have one resourceVersion"):
        restore_backup(file, check_backup(file).end(), folder, replace=False)
    folder.check_whole()


def test_the_server_gives_everything_to_members_of_system_masters_alone(
    make_api: Callable[..., Api], tmp_path: Path
) -> None:
    key = tmp_path / "sa.key"
    key.write_text("secret")
    api = make_api(backup_files={"tls/sa.key": key})
    api.bootstrap_rbac()
    for number in range(3):
        api.made(CONFIGMAPS, config(f"c{number}"))
    bound = {
        "metadata": {"name": "almost"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "almost"}],
    }
    api.made("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", bound)

    text = api.client.get("/backup").content
    stored = list(read_objects(text.splitlines(keepends=True), 2))
    assert {each.name for each in stored if each.store == "configmaps"} >= {"c0", "c1", "c2"}
    header = json.loads(text.splitlines()[0])
    assert header["revision"] == api.registry.revision
    assert base64.b64decode(header["files"]["tls/sa.key"]) == b"secret"
    assert failed(api.post("/backup", {})) == (405, "MethodNotAllowed")

    api.users["almost"] = User("almost", ("system:authenticated",))
    for token, code in (("almost", 403), ("unknown", 401)):
        answer = api.client.get("/backup", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == code
        assert b"secret" not in answer.content
    key.unlink()
    assert f"{key} cannot be read: No such file" in api.get("/backup").body["message"]


def test_an_error_names_the_line() -> None:
    with pytest.raises(BackupError, match="line 3 holds no object"):
        list(read_objects([*lines()[:2], b"[1]\n"], 2))
