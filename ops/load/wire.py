"""A wire to the database that can be cut: connections stay, new ones get no answer, and nothing is said to anybody.

A firewall, or a machine that lost its power, looks like that. A process of its own: nobody waits for another's turn at Python.
"""

import multiprocessing
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing.synchronize import Event

# How long a cut wire may go on as if nothing were.
TICK = 0.02


@contextmanager
def wire(port: int) -> Iterator[tuple[int, Callable[[], AbstractContextManager[None]]]]:
    """The port of a wire to `port`, and what cuts it for a while."""
    context = multiprocessing.get_context("fork")
    is_cut = context.Event()

    @contextmanager
    def cut() -> Iterator[None]:
        is_cut.set()
        yield
        is_cut.clear()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = context.Process(target=_forward, args=(listener, port, is_cut), daemon=True)
        process.start()
        try:
            yield listener.getsockname()[1], cut
        finally:
            process.kill()
            process.join()


def _forward(listener: socket.socket, port: int, is_cut: Event) -> None:
    """Carries bytes both ways, and nothing while the wire is cut."""
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    other_end: dict[socket.socket, socket.socket] = {}

    def end(connection: socket.socket) -> None:
        for side in (connection, other_end[connection]):
            waiting.unregister(side)
            side.close()
            del other_end[side]

    while True:
        if is_cut.is_set():
            # With no room for those who wait to be let in, the kernel does not answer for us either.
            listener.listen(0)
            while is_cut.is_set():
                time.sleep(TICK)
            listener.listen(128)
        for key, _ in waiting.select(TICK):
            side = key.fileobj
            assert isinstance(side, socket.socket)
            if side is listener:
                caller, _ = listener.accept()
                with suppress(OSError):
                    database = socket.create_connection(("127.0.0.1", port))
                    other_end |= {caller: database, database: caller}
                    waiting.register(caller, selectors.EVENT_READ)
                    waiting.register(database, selectors.EVENT_READ)
            elif side in other_end:
                try:
                    data = side.recv(1 << 16)
                    other_end[side].sendall(data)
                except OSError:
                    data = b""
                if not data:
                    end(side)
