"""The flags of notebook validation."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from mooring.kube.errors import InputError
from mooring.runtime.settings import Setting, duration

__all__ = ["GIT_INIT_IMAGE", "UNSCHEDULABLE_GRACE"]

UNSCHEDULABLE_GRACE: Final = duration(
    "unschedulable-grace",
    timedelta(minutes=5),
    "How long a notebook waits for a node that can take its pod before its job fails (5m).",
)


def _image(text: str) -> str:
    if not text or text != text.strip():
        raise InputError("is not an image such as registry.example.com/git:1")
    return text


GIT_INIT_IMAGE: Final = Setting(
    "git-init-image",
    "quay.io/takinosh/git-init-rhel9:latest",
    _image,
    "IMAGE",
    "The image, with git and ssh, in which the repositories of notebooks are cloned.",
)
