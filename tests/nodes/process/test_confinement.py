"""A pod that wants out: what it tries, as root, and what it gets."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.nodes.process.home import LINUX, Home, needs_sandbox, play, shell

pytestmark = [
    pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has"),
    needs_sandbox,
]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to take away")
SECRET = "the-token-of-the-node"
DEFAULT_CAPABILITIES = "00000000a80425fb"
# 32 and 33 are the C library's own: it lets nobody set them, so whatever the test runner inherited stays.
UNTOUCHABLE_SIGNALS = 1 << 31 | 1 << 32


def test_the_data_folder_and_other_processes_are_not_in_view(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        (tmp_path / "tokens.json").write_text(SECRET)
        at.pod("neighbour", shell("sleep 1000", env=[{"name": "PASSWORD", "value": SECRET}]))
        await at.phase("neighbour", "Running")
        script = (
            f"ls -A {tmp_path}; cat {tmp_path}/tokens.json; ls -A /all{tmp_path}; cat /all{tmp_path}/tokens.json;"
            f"cat /proc/1/root{tmp_path}/tokens.json; cat /proc/*/environ | tr '\\0' '\\n' | grep PASS;"
            f"for each in /all/proc/[0-9]* /procs/[0-9]*; do cat $each/root{tmp_path}/tokens.json $each/environ; done;"
            f"umount {tmp_path}; cat {tmp_path}/tokens.json; ls -d /proc/[0-9]* | wc -l;"
            f"unshare -Urm sh -c 'umount {tmp_path}; cat {tmp_path}/tokens.json'; echo done"
        )
        everything = {"name": "all", "mountPath": "/all", "readOnly": True}
        at.pod(
            "spy",
            shell(script, volumeMounts=[everything, {"name": "procs", "mountPath": "/procs"}]),
            volumes=[{"name": "all", "hostPath": {"path": "/"}}, {"name": "procs", "hostPath": {"path": "/proc"}}],
            restartPolicy="Never",
        )
        await at.phase("spy", "Succeeded")
        told = await at.log("spy")
        assert SECRET not in told
        assert told.endswith("done\n")
        inner = shell("true", volumeMounts=[{"name": "data", "mountPath": "/data"}])
        at.pod("direct", inner, volumes=[{"name": "data", "hostPath": {"path": str(tmp_path / "pods")}}])
        refused = "lies in the data folder of the cluster, which pods do not see"
        await at.until(lambda: any(refused in each for each in at.events("direct")), "it is refused")

    play(story, tmp_path)


@needs_root
def test_the_data_folder_is_not_in_view_where_it_is_bound_a_second_time(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    twin, disk = tmp_path_factory.mktemp("twin"), tmp_path_factory.mktemp("disk")
    (tmp_path / "tokens.json").write_text(SECRET)
    (tmp_path_factory.getbasetemp() / "seen").write_text("seen\n")

    async def story(at: Home) -> None:
        script = f"ls -A {twin}; cat {disk}/seen; echo mine > {disk}/mine; cat {disk}/mine"
        stolen = f"cat {disk}/{tmp_path.name}/tokens.json"
        at.pod("spy", shell(f"{script}; {stolen} 2>/dev/null || true"), restartPolicy="Never")
        await at.phase("spy", "Succeeded")
        assert await at.log("spy") == "seen\nmine\n"
        outer = {"name": "disk", "mountPath": "/d"}
        at.pod(
            "direct",
            shell(f"cat /d/{tmp_path.name}/tokens.json 2>/dev/null; echo done", volumeMounts=[outer]),
            volumes=[{"name": "disk", "hostPath": {"path": str(disk)}}],
            restartPolicy="Never",
        )
        await at.phase("direct", "Succeeded")
        assert await at.log("direct") == "done\n"

    bound = [(tmp_path, twin), (tmp_path.parent, disk)]
    for source, place in bound:
        subprocess.run(["mount", "--bind", source, place], check=True)
    try:
        play(story, tmp_path)
    finally:
        for _, place in bound:
            subprocess.run(["umount", place], check=True)
    assert not (tmp_path.parent / "mine").exists()


@needs_root
def test_root_has_few_rights_and_leaves_the_machine_as_it_was(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        script = (
            "ls -A /run; grep -h CapEff /proc/self/status; grep NoNewPrivs /proc/self/status;"
            "echo x > /etc/mooring-was-here && cat /etc/mooring-was-here;"
            "(echo x > /proc/sys/kernel/core_pattern) 2>/dev/null || echo settings refused;"
            "(echo 1 > /sys/kernel/uevent_helper || mkdir /sys/fs/cgroup/x) 2>/dev/null || echo kernel refused;"
            "mount -t tmpfs none /mnt 2>/dev/null || echo mount refused;"
            "mknod /disk b 254 0 && head -c 1 /disk 2>/dev/null || echo disk refused;"
            "mv /.mooring /else 2>/dev/null || echo move refused; cat /etc/shadow 2>/dev/null || true"
        )
        at.pod("root", shell(script), restartPolicy="Never")
        frozen = {"readOnlyRootFilesystem": True}
        tries = (
            "for place in / /etc /usr/bin /tmp /root /run; do touch $place/x 2>/dev/null && echo wrote $place;"
            "mount -o remount,rw / 2>/dev/null && echo remounted; done; echo kept > /data/x && cat /data/x"
        )
        volume = {"name": "data", "mountPath": "/data"}
        at.pod(
            "frozen",
            shell(tries, securityContext=frozen, volumeMounts=[volume]),
            volumes=[{"name": "data", "emptyDir": {}}],
            restartPolicy="Never",
        )
        await at.phase("root", "Succeeded")
        assert await at.log("root") == (
            f"CapEff:\t{DEFAULT_CAPABILITIES}\nNoNewPrivs:\t1\nx\nsettings refused\nkernel refused\nmount refused\n"
            "disk refused\nmove refused\n"
        )
        await at.phase("frozen", "Succeeded")
        assert await at.log("frozen") == "kept\n"

    play(story, tmp_path)
    assert not Path("/etc/mooring-was-here").exists()


@needs_root
def test_capabilities_are_those_of_the_spec(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        show = "grep -h CapEff /proc/self/status"
        bind = "python3 -c 'import socket; socket.socket().bind((\"127.0.0.1\", 1))' && echo bound"
        none = {"capabilities": {"drop": ["ALL"]}}
        one = {"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}
        at.pod("none", shell(show, securityContext=none), restartPolicy="Never")
        at.pod("one", shell(f"{show}; {bind}", securityContext={**one, "runAsUser": 1234}), restartPolicy="Never")
        at.pod("odd", shell(show, securityContext={"capabilities": {"add": ["FLY"]}}))
        await at.phase("none", "Succeeded")
        assert await at.log("none") == f"CapEff:\t{0:016x}\n"
        await at.phase("one", "Succeeded")
        assert await at.log("one") == f"CapEff:\t{1 << 10:016x}\nbound\n"
        await at.until(lambda: "FLY" in at.container("odd")["state"]["waiting"]["message"], "it is refused")

    play(story, tmp_path)


@needs_root
def test_probes_have_no_more_rights_than_the_container_whatever_it_has_put_in_its_way(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        evil = "cp /bin/true /usr/bin/setpriv; cp /bin/true /usr/bin/nsenter; echo up; sleep 1000"
        seen = (
            "(grep -h -e CapEff -e SigIgn /proc/self/status | sort; echo $LD_PRELOAD $GREETING) > /out/seen;"
            "grep memory /proc/self/cgroup >> /out/groups; grep memory /proc/1/cgroup >> /out/groups"
        )
        probe = {"exec": {"command": ["sh", "-c", seen]}, "periodSeconds": 1}
        env = [{"name": "LD_PRELOAD", "value": "/nowhere.so"}, {"name": "GREETING", "value": "hello"}]
        out = {"name": "out", "mountPath": "/out"}
        pod = at.pod(
            "probed",
            shell(evil, readinessProbe=probe, env=env, volumeMounts=[out], resources={"limits": {"memory": "64Mi"}}),
            volumes=[{"name": "out", "emptyDir": {}}],
        )
        await at.until(lambda: at.container("probed")["ready"], "it is ready")
        seen_at = tmp_path / "pods" / pod["metadata"]["uid"] / "volumes" / "out" / "seen"
        capabilities, ignored, variables = seen_at.read_text().splitlines()
        assert capabilities == f"CapEff:\t{DEFAULT_CAPABILITIES}"
        assert not int(ignored.partition("\t")[2], 16) & ~UNTOUCHABLE_SIGNALS
        assert variables == "/nowhere.so hello"
        # The probe counts towards the limits of the container.
        assert len(set((seen_at.parent / "groups").read_text().splitlines())) <= 1

    play(story, tmp_path)


def test_without_a_sandbox_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("frozen", shell("true", securityContext={"readOnlyRootFilesystem": True}))
        at.pod("plain", shell("true"), restartPolicy="Never")
        waiting = await at.until(lambda: at.container("frozen")["state"]["waiting"]["message"] or None)
        assert "asks for readOnlyRootFilesystem, which this node cannot keep" in waiting
        await at.phase("plain", "Succeeded")
        await at.until(lambda: any(each.startswith("NoSandbox") for each in at.events("plain")), "it is said")

    play(story, tmp_path, problem="bubblewrap is not installed")


@needs_root
def test_threads_work_under_a_limit_and_the_last_words_of_a_liar_are_short(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        threads = (
            "import threading,time\n"
            "work=[threading.Thread(target=time.sleep,args=(0.2,)) for _ in range(30)]\n"
            "[each.start() for each in work]; [each.join() for each in work]; print('worked')"
        )
        many = {"name": "main", "image": "x", "command": ["python3", "-c", threads]}
        at.pod("many", {**many, "resources": {"limits": {"memory": "128Mi", "cpu": "500m"}}}, restartPolicy="Never")
        at.pod("liar", shell("truncate -s 1T /dev/termination-log; exit 1"), restartPolicy="Never")
        await at.phase("liar", "Failed")
        assert len(at.container("liar")["state"]["terminated"]["message"]) == 4096
        if at.agent.isolation.control_groups.limits("memory"):
            await at.phase("many", "Succeeded")
            assert await at.log("many") == "worked\n"
        roots = at.agent.isolation.control_groups.roots.values()
        await at.until(lambda: not [each for root in roots for each in root.glob("*") if each.is_dir()], "groups go")

    play(story, tmp_path)
