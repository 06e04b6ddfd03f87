"""The options of a write: time, field manager, dry run, field validation, user."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Required, TypedDict

from mooring.kube.schemas.duplicates import DuplicateField
from mooring.kube.status import BadRequestError
from mooring.kube.times import timestamp

__all__ = ["FieldValidation", "Options", "Sent", "UserExtra"]

FieldValidation = Literal["Ignore", "Warn", "Strict"]
# What else is known of a user: pairs of a key and its values.
UserExtra = tuple[tuple[str, tuple[str, ...]], ...]


class Sent(TypedDict, total=False):
    """What every creation, update and patch is sent with, as keywords: `registry.create(resource, obj, **sent)`."""

    now: Required[datetime]
    manager: str
    dry_run: bool
    field_validation: FieldValidation
    user: str
    groups: tuple[str, ...]
    user_uid: str
    user_extra: UserExtra
    # Found by the parser of the body alone.
    duplicate_fields: tuple[DuplicateField, ...]
    warnings: list[str]
    annotations: dict[str, str] | None


@dataclass(slots=True)
class Options:
    """The options of one write. Warnings are added to `warnings` and are for the person at the other end; what
    admission notes for the audit log is added to `annotations`, where one is written."""

    now: datetime
    manager: str = ""
    dry_run: bool = False
    field_validation: FieldValidation = "Ignore"
    force: bool = False
    # Whether the object is put in the place of another one, rather than changed by a patch.
    replaces: bool = False
    # Called before an update or an apply creates what it names; raises to refuse it.
    before_create: Callable[[], None] | None = None
    user: str = ""
    groups: tuple[str, ...] = ()
    user_uid: str = ""
    user_extra: UserExtra = ()
    # The paths of fields that the body held more than once.
    duplicate_fields: tuple[DuplicateField, ...] = ()
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] | None = None
    stamp: str = field(init=False)

    def __post_init__(self) -> None:
        self.stamp = timestamp(self.now)
        if self.field_validation not in ("Ignore", "Warn", "Strict"):
            raise BadRequestError(
                f'invalid fieldValidation "{self.field_validation}": must be one of "Ignore", "Warn", "Strict"'
            )
