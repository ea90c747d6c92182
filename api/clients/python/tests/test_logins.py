"""Logins that are kept: who can read them, when they are renewed, and by whom where several want to."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pytest
from worlds import BOTH, Call, answering

from retort_client import AsyncRetort, LoginFailed, Retort, Unavailable
from retort_client.authorization import KeptLogin, kept_logins
from retort_client.exchange import Answer, Pause, Request
from retort_client.logins import Login

URL = "http://service.example"
CODE = {
    "device_code": "secret",
    "user_code": "BCDF-GHJK",
    "verification_uri": f"{URL}/auth/device",
    "verification_uri_complete": f"{URL}/auth/device?user_code=BCDF-GHJK",
    "expires_in": 600,
    "interval": 0,
}
TOKENS = {"access_token": "new", "refresh_token": "next", "expires_in": 3600, "token_type": "Bearer"}
NO_MODELS: dict[str, object] = {"data": [], "object": "list"}


def waiting(error: str) -> httpx.Response:
    return httpx.Response(400, json={"error": error})


def keep(access_token: str, *, seconds: float, refresh_token: str | None = "once") -> None:
    kept_logins().keep(URL, Login(access_token=access_token, refresh_token=refresh_token, expires_at=time.time() + seconds))


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("call", BOTH)
def test_a_login_that_is_about_to_end_is_renewed_and_kept(call: Call) -> None:
    keep("old", seconds=30)
    sent, options = answering(httpx.Response(200, json=TOKENS), httpx.Response(200, json=NO_MODELS))

    call(lambda retort: retort.models.list(), URL, **options)

    assert parse_qs(sent[0].content.decode()) == {
        "grant_type": ["refresh_token"],
        "client_id": ["retort-cli"],
        "refresh_token": ["once"],
    }
    assert sent[1].headers["authorization"] == "Bearer new"
    kept = kept_logins().find(URL)
    assert kept is not None
    assert (kept.access_token, kept.refresh_token, kept.is_fresh) == ("new", "next", True)


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("call", BOTH)
def test_a_token_that_the_service_refuses_is_renewed_once(call: Call) -> None:
    keep("revoked", seconds=3600)
    refused, done = httpx.Response(401), httpx.Response(200, json=NO_MODELS)
    sent, options = answering(refused, httpx.Response(200, json=TOKENS), done)

    call(lambda retort: retort.models.list(), URL, **options)

    assert [request.headers.get("authorization") for request in sent] == ["Bearer revoked", None, "Bearer new"]


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("call", BOTH)
def test_a_login_that_ended_says_so(call: Call) -> None:
    keep("old", seconds=0)
    _, options = answering(waiting("invalid_grant"))

    with pytest.raises(LoginFailed, match="login refused: invalid_grant"):
        call(lambda retort: retort.models.list(), URL, **options)


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("call", BOTH)
def test_a_service_that_cannot_renew_now_is_asked_again_and_has_ended_nothing(call: Call) -> None:
    keep("old", seconds=0)
    busy = [httpx.Response(503, headers={"Retry-After": "0"}) for _ in range(4)]
    sent, options = answering(*busy)

    with pytest.raises(Unavailable):
        call(lambda retort: retort.models.list(), URL, **options)

    assert [request.url.path for request in sent] == ["/auth/token"] * 4
    assert kept_logins().find(URL) is not None


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("call", BOTH)
def test_who_never_logged_in_is_told_how_to(call: Call) -> None:
    with pytest.raises(LoginFailed, match=r"set RETORT_TOKEN, or call Retort.login\('http://service.example'\)"):
        call(lambda retort: retort.models.list(), URL)


@pytest.mark.usefixtures("configuration")
def test_of_two_that_renew_at_once_one_does_and_the_other_takes_what_it_got() -> None:
    keep("old", seconds=0)
    one, other = (KeptLogin(kept_logins(), URL).token() for _ in range(2))

    assert isinstance(next(one), Request)
    assert isinstance(next(other), Pause)
    with pytest.raises(StopIteration) as first:
        one.send(Answer(200, {}, b'{"access_token": "new", "refresh_token": "next", "expires_in": 3600}'))
    with pytest.raises(StopIteration) as second:
        other.send(None)

    assert (first.value.value, second.value.value) == ("new", "new")


@pytest.mark.usefixtures("configuration")
def test_who_is_interrupted_while_renewing_lets_others_renew() -> None:
    keep("old", seconds=0)
    interrupted = KeptLogin(kept_logins(), URL).token()
    next(interrupted)

    interrupted.close()

    assert isinstance(next(KeptLogin(kept_logins(), URL).token()), Request)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights elsewhere")
def test_nobody_else_can_read_a_kept_login(configuration: Path) -> None:
    keep("old", seconds=0)
    keep("new", seconds=0)

    assert (configuration / "logins.json").stat().st_mode & 0o777 == 0o600
    assert configuration.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in configuration.iterdir()] == ["logins.json"]


def test_a_damaged_file_is_named(configuration: Path) -> None:
    keep("old", seconds=0)
    (configuration / "logins.json").write_text("{")

    with pytest.raises(LoginFailed, match=r"logins.json is damaged"):
        kept_logins().find(URL)


@pytest.mark.usefixtures("configuration")
def test_logins_at_other_services_stay() -> None:
    keep("here", seconds=0)
    kept_logins().keep("https://other.example", Login(access_token="there", expires_at=0))

    kept_logins().forget(URL)

    assert kept_logins().find(URL) is None
    assert kept_logins().find("https://other.example") is not None


def log_in_with_threads() -> list[tuple[str, str]]:
    shown: list[tuple[str, str]] = []
    Retort.login(URL, show=lambda address, code: shown.append((address, code))).close()
    return shown


def log_in_on_a_loop() -> list[tuple[str, str]]:
    shown: list[tuple[str, str]] = []

    async def main() -> None:
        retort = await AsyncRetort.login(URL, show=lambda address, code: shown.append((address, code)))
        await retort.close()

    asyncio.run(main())
    return shown


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[httpx.Request]]:
    """Has whatever client is made get these answers."""

    def answer(*answers: httpx.Response | Exception) -> list[httpx.Request]:
        sent, options = answering(*answers)
        for kind in (httpx.Client, httpx.AsyncClient):
            made = partial(kind, transport=options["transport"])
            monkeypatch.setattr(httpx, kind.__name__, lambda made=made, **_: made())  # pyright: ignore
        return sent

    return answer


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("log_in", [log_in_with_threads, log_in_on_a_loop])
def test_a_login_waits_for_the_person_through_a_lost_network_and_is_kept(
    log_in: Callable[[], list[tuple[str, str]]], answered: Callable[..., list[httpx.Request]]
) -> None:
    lost = httpx.ConnectError("the network went away")
    sent = answered(httpx.Response(200, json=CODE), waiting("authorization_pending"), lost, httpx.Response(200, json=TOKENS))

    assert log_in() == [(f"{URL}/auth/device?user_code=BCDF-GHJK", "BCDF-GHJK")]

    assert [request.url.path for request in sent] == ["/auth/device_authorization", *["/auth/token"] * 3]
    assert "offline_access" in parse_qs(sent[0].content.decode())["scope"][0].split()
    kept = kept_logins().find(URL)
    assert kept is not None
    assert (kept.access_token, kept.refresh_token) == ("new", "next")


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize("log_in", [log_in_with_threads, log_in_on_a_loop])
@pytest.mark.parametrize("error", ["access_denied", "expired_token", "invalid_grant"])
def test_a_login_that_nobody_lets_in_fails_with_the_reason(
    error: str, log_in: Callable[[], list[tuple[str, str]]], answered: Callable[..., list[httpx.Request]]
) -> None:
    sent = answered(httpx.Response(200, json=CODE), waiting(error))

    with pytest.raises(LoginFailed, match=error):
        log_in()

    assert len(sent) == 2
    assert kept_logins().find(URL) is None


@pytest.mark.parametrize("given", [None, ""])
def test_the_surroundings_say_where_the_service_is_and_who_calls(
    given: str | None, configuration: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not configuration.exists()
    with Retort.from_env() as retort:
        assert retort.url == "http://127.0.0.1:8080"
    monkeypatch.setenv("RETORT_URL", f"{URL}/")
    monkeypatch.setenv("RETORT_TOKEN", given or "")
    with Retort.from_env() as retort:
        assert retort.url == URL
        with pytest.raises(LoginFailed):
            retort.models.list()
