"""Plans and batches for programs that wait for each answer."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator
from typing import Protocol, TypeVar

from typing_extensions import Self, Unpack

from . import background, events
from .background import BatchRecord, StoredPlan, Terms
from .calls import Session
from .events import StoredPlanEvent
from .exchange import Script, Steps
from .progress import Show
from .stored import BatchBody
from .wire import Country, PlanSettings

T = TypeVar("T")


class Runner(Protocol):
    """What carries out what is described: a `Retort`."""

    @property
    def session(self) -> Session:
        """Who calls, and how patiently."""
        ...

    def run(self, steps: Steps[T]) -> T:
        """Carries out what comes to one thing."""
        ...

    def iterate(self, script: Script[T]) -> Generator[T, None, None]:
        """Carries out what tells one thing after the other."""
        ...


class Plans:
    """Searches that the service keeps and does when their turns come, before all batches."""

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
        """Has the service search for routes to a target when its turn comes; the plan is stored when this returns."""
        terms = Terms(settings, engine, name, description)
        return self._client.run(background.create_plan(self._client.session, smiles, terms))

    def retrieve(self, plan_id: str) -> StoredPlan:
        """A plan as it stands, one of a batch as well; with its result once it is completed."""
        return self._client.run(background.retrieve_plan(self._client.session, plan_id))

    def list(self) -> Iterator[StoredPlan]:
        """All plans of no batch without their results, newest first, fetched as they are read."""
        for body in self._client.iterate(background.list_plans(self._client.session)):
            yield StoredPlan(body)

    def wait(self, plan_id: str) -> StoredPlan:
        """A plan when it has ended: completed, failed or cancelled."""
        return self._client.run(background.wait_for_plan(self._client.session, plan_id))

    def events(self, plan_id: str, ships_to: Country | None = "US") -> Generator[StoredPlanEvent, None, None]:
        """What a plan does, each route when it is found, at the end the plan itself; leaving it does not stop the plan.

        `ships_to` is where lead times in pictures of the routes are for.
        """
        return self._client.iterate(events.watch_plan(self._client.session, plan_id, ships_to))

    def cancel(self, plan_id: str) -> StoredPlan:
        """Cancels a plan; one that has ended stays as it is."""
        return self._client.run(background.cancel_plan(self._client.session, plan_id))

    def delete(self, plan_id: str) -> None:
        """Deletes a plan with what was found; one of a batch goes with its batch alone (`Conflict`)."""
        self._client.run(background.delete_plan(self._client.session, plan_id))


class Batch(BatchRecord):
    """Targets that were asked for together: at most 100,000, each with a plan of its own."""

    def __init__(self, client: Runner, body: BatchBody) -> None:
        super().__init__(body)
        self._client = client

    def refresh(self) -> Self:
        """Asks how far it has come."""
        return self._stands(background.retrieve_batch(self._client.session, self.id))

    def wait(self, *, progress: bool | Show = False) -> Self:
        """Waits until all of its plans have ended.

        `progress` is true for a bar in the terminal (which needs tqdm), or called with a `BatchProgress` whenever more is known.
        """
        return self._stands(background.wait_for_batch(self._client.session, self.id, progress))

    def results(self, *, skip: Collection[str] = (), progress: bool | Show = False) -> Generator[StoredPlan, None, None]:
        """Each plan that is completed or has failed, with what it found, as soon as it has.

        Ends when nothing is left to do. Plans whose ids are in `skip` are left out: those that an earlier program has had.
        Cancelled ones are left out too. `progress` is that of `wait`.
        """
        return self._client.iterate(background.results_of_batch(self._client.session, self.id, skip, progress))

    def plans(self) -> Generator[StoredPlan, None, None]:
        """All plans as they stand, without their results, those of the last targets first."""
        return self._client.iterate(background.plans_of_batch(self._client.session, self.id))

    def cancel(self) -> Self:
        """Cancels the plans that have not ended; they can be resumed."""
        return self._stands(background.cancel_batch(self._client.session, self.id))

    def resume(self) -> Self:
        """Goes on with the plans that were cancelled."""
        return self._stands(background.resume_batch(self._client.session, self.id))

    def delete(self) -> None:
        """Deletes it with its plans and what they found."""
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
        """Has the service search for routes to up to 100,000 targets (5 MiB) when their turns come, with the same settings.

        `smiles` is a list, a column of a table, whatever gives one SMILES after the other, and `names` as many names for them:
        each is the `name` of its plan. The batch is stored when this returns.
        """
        terms = Terms(settings, engine, name, description)
        return Batch(self._client, self._client.run(background.create_batch(self._client.session, (smiles, names), terms)))

    def retrieve(self, batch_id: str) -> Batch:
        """A batch by its id, to go on with it in another program, or after this one died."""
        return Batch(self._client, self._client.run(background.retrieve_batch(self._client.session, batch_id)))

    def list(self) -> Iterator[Batch]:
        """All batches, newest first, fetched as they are read; those that were read may be deleted meanwhile."""
        for body in self._client.iterate(background.list_batches(self._client.session)):
            yield Batch(self._client, body)
