"""The bar over the cells of a notebook while it runs, on a terminal. The only user of rich's progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["progress_bar"]


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Told of a cell's index, the number of cells, and `started` or what became of it; gone when it ends."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting the kernel", total=None)

        def advance(index: int, total: int, state: str) -> None:
            done = index if state == "started" else index + 1
            bar.update(task, description=f"cell {index}", completed=done, total=total)

        yield advance
