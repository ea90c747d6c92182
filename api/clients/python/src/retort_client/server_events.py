"""Server-sent events, as the HTML standard has browsers read them, out of pieces that end anywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class ServerEvent:
    """One event."""

    id: str | None
    """Id with which a reader resumes; that of the event before if it has none of its own."""
    kind: str
    data: str


class EventReader:
    """Reads events out of the pieces of one answer."""

    def __init__(self, last_id: str | None = None) -> None:
        self.last_id = last_id
        """That of the last event that came; none before the first."""
        self.comments = 0
        """Number of comments, by which a service shows that it is alive."""
        self._next_id = last_id
        self._begun: list[bytes] = []
        """Pieces of a line whose end has not come; an answer is one line of megabytes."""
        self._after_return = False
        """True if the piece before ended with a carriage return, which a line feed may follow."""
        self._kind = "message"
        self._data: list[str] = []

    def read(self, piece: bytes) -> list[ServerEvent]:
        """The events that end in this piece."""
        if self._after_return:
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        *ended, rest = LINE_END.split(piece)
        if not ended:
            self._begun.append(piece)
            return []
        lines = [b"".join([*self._begun, ended[0]]), *ended[1:]]
        self._begun = [rest]
        return [event for line in lines if (event := self._take(line.decode(errors="replace"))) is not None]

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatched()
        if line.startswith(":"):
            self.comments += 1
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self._next_id = value
        elif name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        return None

    def _dispatched(self) -> ServerEvent | None:
        # Only now: an event that was cut off has not come.
        self.last_id = self._next_id
        event = ServerEvent(self.last_id, self._kind, "\n".join(self._data)) if self._data else None
        self._kind, self._data = "message", []
        return event
