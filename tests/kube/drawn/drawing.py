"""Drawn texts: samples of what is right, damaged in every way, and as long as a limit allows and one beyond."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from mooring.kube.errors import MooringError


def damaged(draw: Random, text: str, letters: str) -> str:
    """The text with a few letters put in, taken out or replaced."""
    for _ in range(draw.choice((0, 1, 1, 2))):
        at = draw.randrange(len(text) + 1)
        match draw.randrange(4):
            case 0:
                text = text[:at] + draw.choice(letters) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + draw.choice(letters) + text[at + 1 :]
            case 3:
                text = text[:at]
    return text


def variants(seed: int, samples: Iterable[str], letters: str, count: int) -> list[str]:
    """The samples, and so many damaged ones of each."""
    draw, samples = Random(seed), list(samples)
    return list(dict.fromkeys((*samples, *(damaged(draw, each, letters) for each in samples for _ in range(count)))))


def of_lengths(*limits: int, before: str = "", after: str = "") -> list[str]:
    """Texts just as long as each limit, a bit less and a bit more, also of letters that are longer than one byte."""
    lengths = [limit + more for limit in limits for more in (-1, 0, 1)]
    narrow = [before + "x" * (length - len(before) - len(after)) + after for length in lengths]
    wide = [before + "é" * (length // 2) + "x" * (length % 2) + after for length in lengths]
    return [*narrow, *wide]


def answer(function: Callable[..., Any], *given: Any, **more: Any) -> str:
    """What a function returns, or how it refuses."""
    try:
        return repr(function(*given, **more))
    except (MooringError, ValueError) as error:
        return f"! {type(error).__name__} {error}"


def answers(function: Callable[..., Any], inputs: Iterable[Any], **more: Any) -> str:
    """One line for each input; those that are tuples are several arguments."""
    lines = []
    for each in inputs:
        given = each if isinstance(each, tuple) else (each,)
        lines.append(f"{', '.join(map(_short, given))}: {answer(function, *given, **more)}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 200 else f"{text[:20]}…{text[-20:]} ({len(text)})"
