"""`python -m mooring.apiserver`: one API server process, on a socket that it inherits or binds itself."""

import argparse
import logging
import socket
import sys
from pathlib import Path

from mooring.apiserver.process import ServerConfig, run_server
from mooring.kube.errors import MooringError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mooring.apiserver", description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True, help="file of the tokens that are accepted")
    parser.add_argument("--data", type=Path, help="folder of the data; without it they live in memory")
    parser.add_argument("--accept-data-loss", action="store_true", help="go on without writes that were lost")
    parser.add_argument("--certificate", type=Path, help="certificate for TLS; without it the server speaks plain HTTP")
    parser.add_argument("--key", type=Path, help="key of the certificate")
    parser.add_argument("--signing-key", type=Path, help="key for tokens of ServiceAccounts; without it one in memory")
    parser.add_argument("--authority", type=Path, help="the authority that vouches for it and for clients")
    parser.add_argument("--audit-log", type=Path, help="file to record every request in")
    parser.add_argument("--fd", type=int, help="descriptor of a bound socket")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 to bind where there is no --fd")
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        fd = given.fd if given.fd is not None else _bind(given.port)
        return run_server(
            ServerConfig(
                fd=fd,
                tokens=given.tokens,
                data=given.data,
                accept_data_loss=given.accept_data_loss,
                certificate=given.certificate,
                key=given.key,
                signing_key=given.signing_key,
                authority=given.authority,
                audit_log=given.audit_log,
            )
        )
    except (MooringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _bind(port: int) -> int:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    # Who connects from now on waits until the server is there.
    sock.listen()
    print(f"listening on 127.0.0.1:{sock.getsockname()[1]}", flush=True)
    return sock.detach()


if __name__ == "__main__":
    sys.exit(main())
