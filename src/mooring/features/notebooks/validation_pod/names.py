"""Names of the objects and of their parts. People select, mount and read by them, so they are part of the API."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CLONE",
    "CREDENTIALS_PATH",
    "GOLDEN_CLONE",
    "GOLDEN_PATH",
    "HOME_PATH",
    "HOME_VOLUME",
    "REPOSITORY_PATH",
    "RESERVED_PATHS",
    "RESERVED_VOLUMES",
    "RUNNER_PATH",
    "RUNNER_VOLUME",
    "VALIDATOR",
    "WORKSPACE_PATH",
    "WORKSPACE_VOLUME",
    "config_map_name",
    "credentials_volume",
    "pod_name",
]

CLONE: Final = "git-clone"
GOLDEN_CLONE: Final = "golden-git-clone"
VALIDATOR: Final = "validator"

WORKSPACE_PATH: Final = "/workspace"
WORKSPACE_VOLUME: Final = WORKSPACE_PATH.strip("/")
REPOSITORY_PATH: Final = f"{WORKSPACE_PATH}/repo"
GOLDEN_PATH: Final = f"{WORKSPACE_PATH}/golden"
HOME_VOLUME: Final = "jovyan-home"
HOME_PATH: Final = "/home/jovyan"
RUNNER_VOLUME: Final = "mooring-runner"
RUNNER_PATH: Final = "/mooring"
CREDENTIALS_PATH: Final = "/mooring-credentials"


def pod_name(job: str, attempt: int = 0) -> str:
    """A replacement never takes the name of the pod that it replaces."""
    return f"{job}-validation-{attempt}" if attempt else f"{job}-validation"


def config_map_name(job: str) -> str:
    return f"{job}-validation"


def credentials_volume(container: str) -> str:
    """The volume with the credentials of a container that clones: git-credentials, golden-git-credentials."""
    return container.replace(CLONE, "git-credentials")


# Volumes of the pod itself, and names that older forms of it had.
RESERVED_VOLUMES: Final = (
    CLONE,
    "notebook-data",
    "source",
    WORKSPACE_VOLUME,
    HOME_VOLUME,
    RUNNER_VOLUME,
    credentials_volume(CLONE),
    credentials_volume(GOLDEN_CLONE),
)
RESERVED_PATHS: Final = (WORKSPACE_PATH, HOME_PATH, RUNNER_PATH, CREDENTIALS_PATH)
