"""The three kinds of patches that clients send. None changes the document it is given; unchanged parts are shared."""

from mooring.kube.patches.errors import PatchError
from mooring.kube.patches.merge import merge_diff, merge_patch
from mooring.kube.patches.operations import json_patch
from mooring.kube.patches.strategic import strategic_merge_patch

__all__ = ["PatchError", "json_patch", "merge_diff", "merge_patch", "strategic_merge_patch"]
