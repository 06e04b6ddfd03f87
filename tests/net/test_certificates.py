"""The server's own authority and certificate: whom they convince, when they change, and what they cost."""

from __future__ import annotations

import json
import socket
import ssl
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from mooring.net.certificates import CertificateError, Certificates, ensure_certificates

NOW = datetime.now(UTC).replace(microsecond=0)
NAMES = ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc"]
DAY = timedelta(days=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tls"


def contents(files: Certificates) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files.files}


def changed(before: dict[str, bytes], files: Certificates) -> set[str]:
    return {name for name, data in contents(files).items() if data != before[name]}


def handshake(files: Certificates, name: str) -> str | None:
    """Shake hands as a client that trusts the authority and asks for `name`: None, or what the client objects to."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(files.certificate, files.key)
    client = ssl.create_default_context(cafile=str(files.authority))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    ours, theirs = socket.socketpair()

    def answer() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except (ssl.SSLError, OSError):
            theirs.close()

    answering = threading.Thread(target=answer)
    answering.start()
    try:
        client.wrap_socket(ours, server_hostname=name).close()
        return None
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    finally:
        ours.close()
        answering.join()


@pytest.mark.parametrize("name", NAMES)
def test_a_strict_client_that_trusts_the_authority_accepts_every_name(folder: Path, name: str) -> None:
    assert handshake(ensure_certificates(folder, NAMES, now=NOW), name) is None


def test_other_names_are_not_vouched_for(folder: Path) -> None:
    objection = handshake(ensure_certificates(folder, NAMES, now=NOW), "elsewhere.example")
    assert objection is not None
    assert "elsewhere.example" in objection


def test_every_file_is_for_its_owner_only(folder: Path) -> None:
    files = ensure_certificates(folder, NAMES, now=NOW)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.iterdir())) == len(files.files) + 1


def test_the_authority_lasts_ten_years_and_the_certificate_one(folder: Path) -> None:
    files = ensure_certificates(folder, NAMES, now=NOW)
    lives = [
        x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc - NOW
        for path in (files.authority, files.certificate)
    ]
    assert lives == [3650 * DAY, 365 * DAY]


def test_a_second_start_changes_nothing(folder: Path) -> None:
    before = contents(ensure_certificates(folder, NAMES, now=NOW))
    again = ensure_certificates(folder, list(reversed(NAMES)), now=NOW + 300 * DAY)
    assert changed(before, again) == set()


def test_a_certificate_with_less_than_thirty_days_left_is_renewed_under_the_same_authority(folder: Path) -> None:
    before = contents(ensure_certificates(folder, NAMES, now=NOW))
    again = ensure_certificates(folder, NAMES, now=NOW + 336 * DAY)
    assert changed(before, again) == {"server.crt", "server.key"}


def test_another_name_makes_another_certificate_under_the_same_authority(folder: Path) -> None:
    before = contents(ensure_certificates(folder, NAMES, now=NOW))
    again = ensure_certificates(folder, [*NAMES, "192.0.2.7"], now=NOW)
    assert changed(before, again) == {"server.crt", "server.key"}
    assert handshake(again, "192.0.2.7") is None


def test_an_authority_that_runs_out_is_replaced(folder: Path) -> None:
    before = contents(ensure_certificates(folder, NAMES, now=NOW))
    again = ensure_certificates(folder, NAMES, now=NOW + 3640 * DAY)
    assert changed(before, again) == set(before)


@pytest.mark.parametrize("lost", ["server.crt", "server.key", "record.json"])
def test_a_start_that_was_cut_short_is_done_over(folder: Path, lost: str) -> None:
    files = ensure_certificates(folder, NAMES, now=NOW)
    authority = files.authority.read_bytes()
    (folder / lost).unlink()
    again = ensure_certificates(folder, NAMES, now=NOW)
    assert again.authority.read_bytes() == authority
    assert handshake(again, "localhost") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"digests": 1}', "not JSON"])
def test_a_record_that_makes_no_sense_is_written_anew(folder: Path, text: str) -> None:
    ensure_certificates(folder, NAMES, now=NOW)
    (folder / "record.json").write_text(text)
    assert handshake(ensure_certificates(folder, NAMES, now=NOW), "localhost") is None
    assert json.loads((folder / "record.json").read_text())["names"] == sorted(NAMES)


@pytest.mark.parametrize("name", ["ca.crt", "ca.key"])
def test_an_authority_that_cannot_be_used_is_said_and_left_alone(folder: Path, name: str) -> None:
    files = ensure_certificates(folder, NAMES, now=NOW)
    (folder / name).write_text("scribble")
    before = contents(files)
    with pytest.raises(CertificateError, match=f"{name} is not PEM .* remove .* to have a new authority made"):
        ensure_certificates(folder, NAMES, now=NOW)
    (folder / name).unlink()
    with pytest.raises(CertificateError, match=f"{name} is missing"):
        ensure_certificates(folder, NAMES, now=NOW)
    (folder / name).write_text("scribble")
    assert changed(before, files) == set()


def test_a_key_of_another_authority_is_said(folder: Path, tmp_path: Path) -> None:
    files = ensure_certificates(folder, NAMES, now=NOW)
    other = ensure_certificates(tmp_path / "other", NAMES, now=NOW)
    files.authority_key.write_bytes(other.authority_key.read_bytes())
    with pytest.raises(CertificateError, match="is not the key of"):
        ensure_certificates(folder, NAMES, now=NOW)


def test_a_start_that_makes_nothing_imports_no_cryptographic_library(folder: Path) -> None:
    ensure_certificates(folder, NAMES, now=NOW)
    code = (
        "import sys; from datetime import *; from pathlib import Path;"
        "from mooring.net.certificates import ensure_certificates;"
        f"ensure_certificates(Path({str(folder)!r}), {NAMES!r}, now=datetime.now(UTC));"
        "print('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
