# Written by generate_sync.py from asynchronous_batches.py: change that.
"""Plans and batches for programs that wait for each answer."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator
from typing import Protocol, TypeVar

from typing_extensions import Self, Unpack

from . import background, events
from .background import BatchRecord, Show, StoredPlan, Terms
from .calls import Session
from .events import StoredPlanEvent
from .exchange import Script, Steps
from .stored import BatchBody
from .wire import Country, ExportedRoutes, ExportFormat, PlanSettings

T = TypeVar("T")


class Runner(Protocol):
    """Interface of `Retort` that plans and batches use."""

    @property
    def session(self) -> Session:
        """Token and timeouts of the calls."""
        ...

    def run(self, steps: Steps[T]) -> T:
        """Carries out an operation that gives one result."""
        ...

    def iterate(self, script: Script[T]) -> Generator[T, None, None]:
        """Carries out an operation that gives results one by one."""
        ...


class Plans:
    """Stored searches, which run before all batches."""

    def __init__(self, client: Runner) -> None:
        self._client = client

    def create(
        self,
        smiles: str,
        *,
        engine: str | None = None,
        name: str | None = None,
        description: str | None = None,
        **settings: Unpack[PlanSettings],
    ) -> StoredPlan:
        """Stores a search for routes to a target. It survives this program once this returns."""
        terms = Terms(settings, engine, name, description)
        return self._client.run(background.create_plan(self._client.session, smiles, terms))

    def retrieve(self, plan_id: str) -> StoredPlan:
        """Returns a plan, of a batch too; with its result once it is completed."""
        return self._client.run(background.retrieve_plan(self._client.session, plan_id))

    def list(self) -> Iterator[StoredPlan]:
        """Yields all plans outside batches, newest first, without their results. Pages are fetched as they are read."""
        for body in self._client.iterate(background.list_plans(self._client.session)):
            yield StoredPlan(body)

    def export(self, plan_id: str, format: ExportFormat) -> ExportedRoutes:
        """The routes of a completed plan in the format of another program: what `Retort.export` gives.

        Raises `Conflict` where there is no result.
        """
        return self._client.run(background.export_plan(self._client.session, plan_id, format))

    def wait(self, plan_id: str) -> StoredPlan:
        """Waits until a plan is completed, failed or cancelled, and returns it."""
        return self._client.run(background.wait_for_plan(self._client.session, plan_id))

    def events(self, plan_id: str, ships_to: Country | None = "US") -> Generator[StoredPlanEvent, None, None]:
        """Yields progress, each route when it is found, and at the end the plan; closing it does not stop the plan.

        `ships_to` is the country of the lead times in pictures of the routes.
        """
        return self._client.iterate(events.watch_plan(self._client.session, plan_id, ships_to))

    def cancel(self, plan_id: str) -> StoredPlan:
        """Cancels a plan; one that has ended stays as it is."""
        return self._client.run(background.cancel_plan(self._client.session, plan_id))

    def delete(self, plan_id: str) -> None:
        """Deletes a plan with its result. A plan of a batch is deleted with its batch only (`Conflict`)."""
        self._client.run(background.delete_plan(self._client.session, plan_id))


class Batch(BatchRecord):
    """Up to 100,000 targets, each with a plan of its own."""

    def __init__(self, client: Runner, body: BatchBody) -> None:
        super().__init__(body)
        self._client = client

    def refresh(self) -> Self:
        """Asks for its progress."""
        return self._stands(background.retrieve_batch(self._client.session, self.id))

    def wait(self, *, progress: bool | Show = False) -> Self:
        """Waits until all of its plans have ended.

        `progress` is true for a bar in the terminal (which needs tqdm), or called with a `BatchProgress` whenever more is known.
        """
        return self._stands(background.wait_for_batch(self._client.session, self.id, progress))

    def results(self, *, skip: Collection[str] = (), progress: bool | Show = False) -> Generator[StoredPlan, None, None]:
        """Yields each plan that is completed or has failed, with its result, as soon as that is known.

        Ends when no plan is left to run. Plans whose ids are in `skip` are left out: those that an earlier program has read.
        Cancelled ones are left out too. `progress` is that of `wait`.
        """
        return self._client.iterate(background.results_of_batch(self._client.session, self.id, skip, progress))

    def plans(self) -> Generator[StoredPlan, None, None]:
        """Yields all plans without their results, those of the last targets first."""
        return self._client.iterate(background.plans_of_batch(self._client.session, self.id))

    def cancel(self) -> Self:
        """Cancels the plans that have not ended; they can be resumed."""
        return self._stands(background.cancel_batch(self._client.session, self.id))

    def resume(self) -> Self:
        """Resumes the plans that were cancelled."""
        return self._stands(background.resume_batch(self._client.session, self.id))

    def delete(self) -> None:
        """Deletes it with its plans and their results."""
        self._client.run(background.delete_batch(self._client.session, self.id))

    def _stands(self, steps: Steps[BatchBody]) -> Self:
        self.body = self._client.run(steps)
        return self


class Batches:
    """The batches of the account, and of those that it shares with."""

    def __init__(self, client: Runner) -> None:
        self._client = client

    def create(
        self,
        smiles: Iterable[str],
        *,
        names: Iterable[str | None] | None = None,
        engine: str | None = None,
        name: str | None = None,
        description: str | None = None,
        **settings: Unpack[PlanSettings],
    ) -> Batch:
        """Stores searches for routes to up to 100,000 targets (5 MiB), with the same settings.

        `smiles` is a list, a column of a table or any other iterable of SMILES, and `names` has as many names: each is the
        `name` of its plan. The batch survives this program once this returns.
        """
        terms = Terms(settings, engine, name, description)
        body = self._client.run(background.create_batch(self._client.session, (smiles, names), terms))
        return Batch(self._client, body)

    def retrieve(self, batch_id: str) -> Batch:
        """Returns a batch by its id, in another program too."""
        return Batch(self._client, self._client.run(background.retrieve_batch(self._client.session, batch_id)))

    def list(self) -> Iterator[Batch]:
        """Yields all batches, newest first. Pages are fetched as they are read; batches may be deleted meanwhile."""
        for body in self._client.iterate(background.list_batches(self._client.session)):
            yield Batch(self._client, body)
