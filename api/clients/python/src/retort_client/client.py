"""The client for programs that wait for each answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from types import TracebackType
from typing import TypeVar

import httpx
from typing_extensions import Self, Unpack

from . import authorization, operations, over_httpx
from .calls import GivenToken, Patience, Session
from .errors import Unreachable
from .exchange import Answer, Pause, Request, Steps
from .plan import Plan
from .wire import Model, PlanSettings, Sample, SampleSummary

T = TypeVar("T")


class Retort:
    """A Retort service, called in the name of one account.

    It keeps connections open and may be used by several threads; `close` it, or use it in a `with` statement.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Calls the service at `url` (that of `RETORT_URL`, or this machine's own) with `token`.

        Without a token it uses the login that `Retort.login` has kept for the service.
        """
        self.url = over_httpx.address(url)
        self._session = authorization.session(self.url, token, patience)
        self._http = httpx.Client(**over_httpx.settings(self.url), transport=transport)
        self.samples = Samples(self)
        self.models = Models(self)

    @classmethod
    def from_env(cls, url: str | None = None) -> Self:
        """The service of `RETORT_URL` (this machine's own), called with `RETORT_TOKEN` or the login that is kept for it."""
        return cls(url, os.environ.get("RETORT_TOKEN") or None)

    @classmethod
    def login(cls, url: str | None = None, *, show: Callable[[str, str], None] | None = None) -> Self:
        """Logs in by a browser, here or elsewhere, and keeps the login for later programs of this user.

        `show` is called with the address to open and the code that should stand there; by default both are printed. It returns when
        somebody has let the login in.

        Raises `LoginFailed` where nobody did.
        """
        service = cls(url)
        nobody = Session(GivenToken(None))
        try:
            code = service.run(authorization.ask_for_code(nobody))
            (show or authorization.print_code)(code.address, code.user_code)
            login = service.run(authorization.wait_for_login(code))
        except BaseException:
            service.close()
            raise
        authorization.kept_logins().keep(service.url, login)
        return service

    def logout(self) -> None:
        """Ends the login that is kept for the service, here and there."""
        self.run(authorization.log_out(authorization.kept_logins(), self.url))

    def plan(self, smiles: str, **settings: Unpack[PlanSettings]) -> Plan:
        """Searches for routes to a target.

        A plan without a route is no error: `plan.metadata.search` says what stopped the search.

        Raises `InvalidRequest`, whose `faults` name the settings that are at fault, and `DeadlinePassed` or `Unavailable` where no
        worker could do it in time.
        """
        return self.run(operations.plan(self._session, smiles, settings))

    def close(self) -> None:
        """Ends its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def run(self, steps: Steps[T]) -> T:
        """Carries out what `retort_client.operations` describes."""
        # Closed however it ends: what is interrupted lets go of its locks.
        with closing(steps):
            answer: Answer | Unreachable | None = None
            while True:
                try:
                    effect = steps.throw(answer) if isinstance(answer, Unreachable) else steps.send(answer)
                except StopIteration as end:
                    result: T = end.value
                    return result
                if isinstance(effect, Pause):
                    time.sleep(effect.seconds)
                    answer = None
                else:
                    answer = self._send(effect)

    def _send(self, request: Request) -> Answer | Unreachable:
        try:
            return over_httpx.answer(self._http.request(**over_httpx.arguments(self.url, request)))
        except httpx.HTTPError as error:
            return over_httpx.no_answer(self.url, error)

    @property
    def session(self) -> Session:
        """Who calls, and how patiently."""
        return self._session


class Samples:
    """The samples of the account, and of those that it shares samples with."""

    def __init__(self, client: Retort) -> None:
        self._client = client

    def create(self, size: int, model_id: str | None = None) -> Sample:
        """Has `size` molecules (1 to 10,000) generated, by the service's own choice of model where none is named."""
        return self._client.run(operations.create_sample(self._client.session, size, model_id))

    def retrieve(self, sample_id: str) -> Sample:
        """A sample with its molecules."""
        return self._client.run(operations.retrieve_sample(self._client.session, sample_id))

    def list(self) -> Iterator[SampleSummary]:
        """All samples, newest first, fetched as they are read; those that were read may be deleted meanwhile."""
        page = self._client.run(operations.page_of_samples(self._client.session, None))
        while True:
            # Before anything of this page is handed out: whoever deletes what they read deletes the next page's cursor.
            after = operations.next_cursor(page)
            following = self._client.run(operations.page_of_samples(self._client.session, after)) if after else None
            yield from page.data
            if following is None:
                return
            page = following

    def delete(self, sample_id: str) -> None:
        """Deletes a sample."""
        self._client.run(operations.delete_sample(self._client.session, sample_id))


class Models:
    """The generative models of the service."""

    def __init__(self, client: Retort) -> None:
        self._client = client

    def list(self) -> tuple[Model, ...]:
        """All models that can be sampled, by id."""
        return self._client.run(operations.list_models(self._client.session))

    def retrieve(self, model_id: str) -> Model:
        """One of them."""
        return self._client.run(operations.retrieve_model(self._client.session, model_id))
