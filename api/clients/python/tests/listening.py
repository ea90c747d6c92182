"""Small servers for tests, which run in a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Quiet(BaseHTTPRequestHandler):
    """What handles a request without a word about it."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401
        """Says nothing."""


@contextmanager
def listening(handler: type[Quiet]) -> Generator[str, None, None]:
    """Has a server run, and gives its address."""
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_address[1]}"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
