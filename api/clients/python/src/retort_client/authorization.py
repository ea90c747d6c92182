"""Tokens: asked for with a device's code (RFC 8628), kept, renewed before they end, and given back.

The authorization server is the service itself, below `/auth`; this package calls there as the application of the command line,
which every installation knows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError

from .calls import REFUSED_UNDONE, Bearer, GivenToken, RetryPolicy, Session, call, call_with_retries
from .errors import LoginFailed, RetortError, Unreachable
from .exchange import Answer, Request, Steps, ask, pause, read, refusal
from .logins import Login, LoginFile, configuration_folder

CLIENT_ID = "retort-cli"
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
SCOPES = (
    "generator_api.samples:create generator_api.samples:read generator_api.samples:delete generator_api.models:read "
    "synth_api.plans:create synth_api.plans:read synth_api.plans:delete "
    "synth_api.routes:create synth_api.routes:read synth_api.routes:update synth_api.routes:delete "
    "synth_api.queries:create offline_access"
)
"""Scopes of this package. Without the last one there is no refresh token."""
SECONDS = 20.0
SLOWER = 5.0
"""Seconds by which a service has its callers ask less often."""
BUSY_WAIT = 0.1
"""Seconds until a lock that another program holds is tried again."""


class DeviceCode(BaseModel):
    """A device code: what a person enters, and what the program polls with."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None = None
    expires_in: float
    interval: float = 5.0

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        return self.verification_uri_complete or self.verification_uri


class _Tokens(BaseModel):
    access_token: str
    expires_in: float
    refresh_token: str | None = None

    def login(self, before: str | None = None) -> Login:
        refresh_token = self.refresh_token or before
        return Login(access_token=self.access_token, refresh_token=refresh_token, expires_at=time.time() + self.expires_in)


class _Refusal(BaseModel):
    error: str
    error_description: str | None = None


def ask_for_code(session: Session) -> Steps[DeviceCode]:
    """A code for a person to confirm."""
    form = {"client_id": CLIENT_ID, "scope": SCOPES}
    answer = yield from call(session, Request("POST", "/auth/device_authorization", form=form, seconds=SECONDS))
    return read(DeviceCode, answer)


def print_code(address: str, user_code: str) -> None:
    """Shows a person what to open."""
    print(f"Open {address}\nand check that it shows the code {user_code}", flush=True)


def wait_for_login(code: DeviceCode) -> Steps[Login]:
    """Asks until somebody lets the login in, refuses it, or the code runs out."""
    form = {"grant_type": DEVICE_CODE, "client_id": CLIENT_ID, "device_code": code.device_code}
    interval, waited = code.interval, 0.0
    while waited < code.expires_in:
        yield from pause(interval)
        waited += interval
        try:
            answer = yield from ask(_token_request(form))
        except Unreachable:
            # The person may be typing meanwhile.
            continue
        if answer.is_success:
            return read(_Tokens, answer).login()
        if answer.status in REFUSED_UNDONE or _refusal(answer).error == "slow_down":
            interval += SLOWER
        elif _refusal(answer).error != "authorization_pending":
            raise _failed(answer)
    raise LoginFailed("nobody approved this login, and its code has expired")


@dataclass(frozen=True)
class KeptLogin:
    """The login that is kept for a service."""

    file: LoginFile
    url: str
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)

    def token(self) -> Steps[str | None]:
        """The access token, renewed where it is about to end."""
        login = self._login()
        if login.is_fresh:
            return login.access_token
        return (yield from self._renew(login.access_token))

    def renewed(self, refused: str) -> Steps[str | None]:
        """A new access token in place of the one that the service refused; none where the login has ended."""
        try:
            return (yield from self._renew(refused))
        except LoginFailed:
            return None

    def _renew(self, old: str) -> Steps[str]:
        while True:
            with self.file.locked() as is_ours:
                login = self._login()
                if login.access_token != old and login.is_fresh:
                    # Another program has renewed it meanwhile.
                    return login.access_token
                if is_ours:
                    return (yield from self._exchange(login))
            yield from pause(BUSY_WAIT)

    def _exchange(self, login: Login) -> Steps[str]:
        if login.refresh_token is None:
            raise LoginFailed(f"the login at {self.url} has ended: log in again")
        form = {"grant_type": "refresh_token", "client_id": CLIENT_ID, "refresh_token": login.refresh_token}
        answer = yield from call_with_retries(self.retry_policy, _token_request(form))
        if not answer.is_success:
            raise _failed(answer)
        renewed = read(_Tokens, answer).login(before=login.refresh_token)
        self.file.keep(self.url, renewed)
        return renewed.access_token

    def _login(self) -> Login:
        login = self.file.find(self.url)
        if login is None:
            raise LoginFailed(f"nobody is logged in at {self.url}: set RETORT_TOKEN, or call Retort.login({self.url!r})")
        return login


def kept_logins() -> LoginFile:
    """The logins of this user."""
    return LoginFile(configuration_folder())


def session(url: str, token: str | None, retry_policy: RetryPolicy | None) -> Session:
    """Session for the service at `url`, with `token` or else with the login that is kept."""
    retry_policy = retry_policy or RetryPolicy()
    bearer: Bearer = GivenToken(token) if token is not None else KeptLogin(kept_logins(), url, retry_policy)
    return Session(bearer, retry_policy)


def log_out(file: LoginFile, url: str) -> Steps[None]:
    """Forgets the login at `url`, and ends it at the service."""
    login = file.find(url)
    if login is None:
        return
    file.forget(url)
    form = {"client_id": CLIENT_ID, "token": login.refresh_token or login.access_token}
    answer = yield from ask(Request("POST", "/auth/revoke", form=form, seconds=SECONDS))
    if not answer.is_success:
        raise refusal(answer)


def _token_request(form: dict[str, str]) -> Request:
    return Request("POST", "/auth/token", form=form, seconds=SECONDS)


def _refusal(answer: Answer) -> _Refusal:
    """Error code of the authorization server; raises any other refusal."""
    try:
        return _Refusal.model_validate_json(answer.body)
    except ValidationError:
        raise refusal(answer) from None


def _failed(answer: Answer) -> RetortError:
    if answer.status >= 500 or answer.status == 429:
        return refusal(answer)
    refused = _refusal(answer)
    return LoginFailed(f"login refused: {refused.error_description or refused.error}")
