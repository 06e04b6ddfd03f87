"""The process that reads one piece of a snapshot: an order on standard input, views on standard output.

Both are pickles between processes of one program. Anything that is wrong with the piece ends the process with a code
other than 0; the ordinary reader then finds the words for it.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import IO, Any, cast

from mooring.manifests.documents import read_stream
from mooring.manifests.errors import ManifestError
from mooring.manifests.pieces import PieceStream

BATCH_OBJECTS = 1000


def main() -> int:
    path, piece, views, fits = pickle.loads(sys.stdin.buffer.read())
    batch: list[tuple[int, Any]] = []
    try:
        with Path(path).open("rb") as file:
            stream = PieceStream(file, piece)
            for document in read_stream(cast(IO[bytes], stream), path, views, fits):
                if document.index is None or document.number != 1:
                    return 1
                batch.append((document.index, document.value))
                if len(batch) == BATCH_OBJECTS:
                    _send(batch)
                    batch.clear()
    except ManifestError:
        return 1
    _send(batch)
    _send(stream.items)
    return 0


def _send(content: object) -> None:
    frame = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    sys.stdout.buffer.write(len(frame).to_bytes(8) + frame)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
