"""Logins that are kept between programs: one file in the user's configuration folder, which nobody else can read.

A refresh token works once, so whoever renews a login holds the file's lock meanwhile. The lock is tried, never waited for, as
waiting would stop an event loop: callers pause and try again.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from .errors import LoginFailed


class Login(BaseModel):
    """A login at one service."""

    access_token: str
    refresh_token: str | None = None
    expires_at: float
    """End of the access token, in seconds since 1970."""

    @property
    def is_fresh(self) -> bool:
        """True if the access token is valid for another minute."""
        return self.expires_at - time.time() > 60


Logins = TypeAdapter(dict[str, Login])


def configuration_folder() -> Path:
    """Returns the folder of this user's settings."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "retort"


@dataclass(frozen=True)
class LoginFile:
    """The kept logins, by the address of their service."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / "logins.json"

    def find(self, url: str) -> Login | None:
        """The login at `url`; none where nobody has logged in there."""
        return self._read().get(url)

    def keep(self, url: str, login: Login) -> None:
        """Keeps a login in place of the one before."""
        self._write({**self._read(), url: login})

    def forget(self, url: str) -> None:
        """Forgets the login at `url`."""
        logins = self._read()
        if logins.pop(url, None):
            self._write(logins)

    @contextmanager
    def locked(self) -> Generator[bool, None, None]:
        """Holds the lock meanwhile; false where another one holds it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self.folder / "logins.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield _lock(file)
        finally:
            # Closing it lets go of the lock.
            os.close(file)

    def _read(self) -> dict[str, Login]:
        try:
            return Logins.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValidationError as error:
            raise LoginFailed(f"{self.path} is damaged; remove it and log in again") from error

    def _write(self, logins: dict[str, Login]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made with mode 0600, and in place whole or not at all.
        descriptor, name = tempfile.mkstemp(dir=self.folder, prefix="logins-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(Logins.dump_python(logins), file)
        Path(name).replace(self.path)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
