"""Chains are read and removed by the programs of the machine, which are played here by scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.agents.host.cleaning import firewall
from mooring.agents.host.cleaning.firewall import list_chains, remove_chains

SAVED = """*filter
:INPUT ACCEPT [0:0]
:KUBE-FIREWALL - [0:0]
:MINE - [0:0]
-A INPUT -j KUBE-FIREWALL
-A INPUT -j MINE
COMMIT
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_machine_without_these_programs_has_no_chains(programs: Path) -> None:
    assert list_chains() == []
    remove_chains(())


def test_chains_are_removed_by_the_program_that_has_them(programs: Path, caplog: pytest.LogCaptureFixture) -> None:
    (programs / "saved").write_text(SAVED)
    read = 'while IFS= read -r line; do echo "$line"; done < "${0%/*}/saved"'
    put(programs, "iptables-save", read)
    # A program that fails says nothing of chains, whatever it prints.
    put(programs, "ip6tables-save", f"{read}; exit 1")
    put(programs, "iptables", 'echo "$@" >> "${0%/*}/told"; [ "$4" != -X ] || { echo in use >&2; exit 4; }')
    put(programs, "ip6tables", 'echo "6 $@" >> "${0%/*}/told"')
    assert list_chains() == ["iptables/filter/KUBE-FIREWALL"]
    remove_chains(())
    assert (programs / "told").read_text().splitlines() == [
        "-w -t filter -D INPUT -j KUBE-FIREWALL",
        "-w -t filter -F KUBE-FIREWALL",
        "-w -t filter -X KUBE-FIREWALL",
    ]
    assert caplog.messages == ["iptables -w -t filter -X KUBE-FIREWALL: in use"]
    (programs / "told").unlink()
    remove_chains(("iptables/filter/KUBE-FIREWALL",))
    assert not (programs / "told").exists()


def test_a_program_that_cannot_be_run_or_never_ends_is_as_one_that_is_not_there(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firewall, "_SECONDS", 0.05)
    put(programs, "iptables-save", "echo '*filter'; echo ':KUBE-A - [0:0]'; while :; do :; done")
    (programs / "ip6tables-save").write_bytes(b"\x7fELF")
    (programs / "ip6tables-save").chmod(0o755)
    assert list_chains() == []
