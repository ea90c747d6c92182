"""Addresses, requests, answers and failures as httpx has them, for both clients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from .errors import TimedOut, Unreachable
from .exchange import Answer, Request, compact, is_event_stream
from .version import __version__
from .wire import NATIVE_RESULT

DEFAULT_URL = "http://127.0.0.1:8080"
"""Address of the service that `./ops/up` starts."""
CONNECT_SECONDS = 10.0


def address(url: str | None) -> str:
    """Returns the service's address without a `/` at its end: `url`, that of `RETORT_URL`, or this machine's own."""
    given = (url or os.environ.get("RETORT_URL") or DEFAULT_URL).rstrip("/")
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ValueError(f"not the address of a service: {given!r} (as https://retort.example.org)")
    return given


def settings(url: str) -> dict[str, Any]:
    """Returns the settings of the connections to a service."""
    # A proxy cannot reach this machine's own service.
    is_loopback = urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}
    # Who names JSON gets it as it is; without, libraries that accept gzip get it in Base64. Results of plans are as a tree search
    # answers them.
    accept = f"{NATIVE_RESULT}, application/json"
    headers = {"Accept": accept, "User-Agent": f"retort-client/{__version__}"}
    return {"headers": headers, "trust_env": not is_loopback, "follow_redirects": False}


def arguments(url: str, request: Request) -> dict[str, Any]:
    """Returns httpx's arguments for a request."""
    told: dict[str, Any] = {
        "method": request.method,
        "url": f"{url}{request.path}",
        "timeout": httpx.Timeout(request.seconds, connect=min(CONNECT_SECONDS, request.seconds)),
    }
    headers = dict(request.headers)
    if request.token is not None:
        headers["Authorization"] = f"Bearer {request.token}"
    if request.json is not None:
        headers["Content-Type"] = "application/json"
        told["content"] = compact(request.json)
    if request.form is not None:
        told["data"] = dict(request.form)
    if request.query:
        told["params"] = dict(request.query)
    return told | {"headers": headers}


def comes_in_pieces(request: Request, response: httpx.Response) -> bool:
    """Returns true if the response's body is received piece by piece."""
    return request.streamed and is_event_stream(response.status_code, response.headers.get("content-type", ""))


def answer(response: httpx.Response, body: bytes) -> Answer:
    """Returns a response as an answer."""
    headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, body)


def no_answer(url: str, error: httpx.HTTPError) -> Unreachable:
    """Returns the error for a request without an answer."""
    late = isinstance(error, httpx.TimeoutException)
    lost = TimedOut(f"no answer from {url} in time") if late else Unreachable(f"no answer from {url}: {error}")
    lost.__cause__ = error
    return lost
