# Written by generate_sync.py from asynchronous_samples.py: change that.
"""Samples and sample batches for programs that wait for each answer."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import closing

from typing_extensions import Self, Unpack

from . import sampling
from .batches import Runner
from .errors import SampleFailed
from .exchange import Steps
from .sampling import SampleBatchRecord, Show
from .stored import SampleBatchBody
from .wire import Sample, SampleConditions, SampleSummary


class Samples:
    """The samples of the account, and of those that it shares samples with."""

    def __init__(self, client: Runner) -> None:
        self._client = client

    def create(self, size: int, model_id: str | None = None, **conditions: Unpack[SampleConditions]) -> Sample:
        """Generates `size` molecules (1 to 10,000), all of which satisfy the conditions.

        The service chooses the model if none is named.

        Raises `InvalidRequest`, whose `faults` name the conditions that are at fault, and `DeadlinePassed` where too few molecules
        satisfied them in time; its message counts the candidates that each condition refused.
        """
        return self._client.run(sampling.create_sample(self._client.session, size, model_id, conditions))

    def retrieve(self, sample_id: str) -> Sample:
        """Returns a sample with its molecules."""
        return self._client.run(sampling.retrieve_sample(self._client.session, sample_id))

    def list(self) -> Iterator[SampleSummary]:
        """Yields all samples, newest first. Pages are fetched as they are read; samples may be deleted meanwhile."""
        return self._client.iterate(sampling.list_samples(self._client.session))

    def delete(self, sample_id: str) -> None:
        """Deletes a sample. A chunk of a batch is deleted with its batch only (`Conflict`)."""
        self._client.run(sampling.delete_sample(self._client.session, sample_id))


class SampleBatch(SampleBatchRecord):
    """Up to 100,000 molecules, no two of them the same, in chunks that are samples."""

    def __init__(self, client: Runner, body: SampleBatchBody) -> None:
        super().__init__(body)
        self._client = client

    def refresh(self) -> Self:
        """Asks for its progress."""
        return self._stands(sampling.retrieve_batch(self._client.session, self.id))

    def wait(self, *, progress: bool | Show = False) -> Self:
        """Waits until all of its chunks have ended; its `status` says whether all of them were made.

        `progress` is true for a bar in the terminal (which needs tqdm), or called with a `SampleBatchProgress` whenever more is
        known.
        """
        return self._stands(sampling.wait_for_batch(self._client.session, self.id, progress))

    def smiles(self, *, progress: bool | Show = False) -> Generator[str, None, None]:
        """Yields the molecules as their chunks are made. `progress` is that of `wait`.

        Raises `SampleFailed` after the last one if chunks have failed.
        """
        error: str | None = None
        with closing(self.results(progress=progress)) as chunks:
            for chunk in chunks:
                error = error or chunk.error
                for smiles in chunk.smiles:
                    yield smiles
        if error is not None:
            raise SampleFailed(f"the batch {self.id} has not all of its molecules: {error}")

    def results(self, *, skip: Collection[str] = (), progress: bool | Show = False) -> Generator[Sample, None, None]:
        """Yields each chunk that is completed or has failed, as soon as that is known.

        Ends with the last one. A failed one has an `error` and no molecules. Chunks whose ids are in `skip` are left out: those
        that an earlier program has read. `progress` is that of `wait`.
        """
        return self._client.iterate(sampling.results_of_batch(self._client.session, self.id, skip, progress))

    def cancel(self) -> Self:
        """Ends it: completed chunks stay, and the others fail."""
        return self._stands(sampling.cancel_batch(self._client.session, self.id))

    def delete(self) -> None:
        """Deletes it with its molecules."""
        self._client.run(sampling.delete_batch(self._client.session, self.id))

    def _stands(self, steps: Steps[SampleBatchBody]) -> Self:
        self.body = self._client.run(steps)
        return self


class SampleBatches:
    """The sample batches of the account, and of those that it shares samples with."""

    def __init__(self, client: Runner) -> None:
        self._client = client

    def create(self, size: int, model_id: str | None = None, **conditions: Unpack[SampleConditions]) -> SampleBatch:
        """Stores a request for `size` molecules (1 to 100,000), with the conditions of a sample.

        The batch survives this program once this returns.

        Raises `InvalidRequest`, whose `faults` name the conditions that are at fault, and `Conflict` if too many molecules of the
        account wait already.
        """
        body = self._client.run(sampling.create_batch(self._client.session, size, model_id, conditions))
        return SampleBatch(self._client, body)

    def retrieve(self, batch_id: str) -> SampleBatch:
        """Returns a batch by its id, in another program too."""
        return SampleBatch(self._client, self._client.run(sampling.retrieve_batch(self._client.session, batch_id)))

    def list(self) -> Iterator[SampleBatch]:
        """Yields all batches, newest first. Pages are fetched as they are read; batches may be deleted meanwhile."""
        for body in self._client.iterate(sampling.list_batches(self._client.session)):
            yield SampleBatch(self._client, body)
