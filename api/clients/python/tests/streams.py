"""A small server that speaks event streams as a service does: what it says to each request is written down before."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from listening import Quiet, listening

WHERE = "/synth/v1/treesearch/srch_1/events?view=compact"


def event(kind: str, body: object, number: int | None = None) -> bytes:
    """An event as it stands in a stream."""
    named = b"" if number is None else f"id: {number}\n".encode()
    return named + f"event: {kind}\ndata: {json.dumps(body)}\n\n".encode()


def progress(expansions: int, number: int) -> bytes:
    """What a search has done."""
    body = {"seconds": 0.5, "expansions": expansions, "molecules": 2, "depth": 1, "routes": 0, "best_cost": None}
    return event("progress", body, number)


@dataclass(frozen=True)
class Said:
    """What one request is answered with."""

    pieces: Sequence[bytes]
    """Each sent by itself."""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Location": WHERE})
    breaks_off: bool = False
    """Whether the connection ends before what was promised has been sent."""
    waits_for_leaving: bool = False
    """Whether nothing more comes, and the connection stays until the caller leaves."""


@dataclass
class Server:
    """A server that runs, and what it was asked."""

    url: str
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list[tuple[str, str, dict[str, str]]])
    """Method, path and headers (in lower case) of each request."""
    left: threading.Event = field(default_factory=threading.Event)
    """Whether a caller has left a stream that was not over."""


@contextmanager
def serving(*answers: Said) -> Generator[Server, None, None]:
    """A server that gives these answers one after the other."""

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # noqa: N802 (the library's names)
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.do_GET()

        def do_GET(self) -> None:  # noqa: N802 (the library's names)
            said = answers[len(server.asked)]
            server.asked.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(said.status)
            for name, value in {"Content-Type": said.content_type, "Transfer-Encoding": "chunked", **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in said.pieces:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if said.waits_for_leaving:
                # Nothing but the end of the connection comes.
                self.rfile.read(1)
                server.left.set()
            if said.breaks_off or said.waits_for_leaving:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

    server = Server("")
    with listening(Handler) as server.url:
        yield server
