"""Samples and sample batches on an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing

from typing_extensions import Self, Unpack

from . import sampling
from .asynchronous_batches import AsyncRunner
from .errors import SampleFailed
from .exchange import Steps
from .sampling import SampleBatchRecord, Show
from .stored import SampleBatchBody
from .wire import Sample, SampleConditions, SampleSummary


class AsyncSamples:
    """The samples of the account, and of those that it shares samples with."""

    def __init__(self, client: AsyncRunner) -> None:
        self._client = client

    async def create(self, size: int, model_id: str | None = None, **conditions: Unpack[SampleConditions]) -> Sample:
        """Generates `size` molecules (1 to 10,000), all of which satisfy the conditions.

        The service chooses the model if none is named.

        Raises `InvalidRequest`, whose `faults` name the conditions that are at fault, and `DeadlinePassed` where too few molecules
        satisfied them in time; its message counts the candidates that each condition refused.
        """
        return await self._client.run(sampling.create_sample(self._client.session, size, model_id, conditions))

    async def retrieve(self, sample_id: str) -> Sample:
        """Returns a sample with its molecules."""
        return await self._client.run(sampling.retrieve_sample(self._client.session, sample_id))

    def list(self) -> AsyncIterator[SampleSummary]:
        """Yields all samples, newest first. Pages are fetched as they are read; samples may be deleted meanwhile."""
        return self._client.iterate(sampling.list_samples(self._client.session))

    async def delete(self, sample_id: str) -> None:
        """Deletes a sample. A chunk of a batch is deleted with its batch only (`Conflict`)."""
        await self._client.run(sampling.delete_sample(self._client.session, sample_id))


class AsyncSampleBatch(SampleBatchRecord):
    """Up to 100,000 molecules, no two of them the same, in chunks that are samples."""

    def __init__(self, client: AsyncRunner, body: SampleBatchBody) -> None:
        super().__init__(body)
        self._client = client

    async def refresh(self) -> Self:
        """Asks for its progress."""
        return await self._stands(sampling.retrieve_batch(self._client.session, self.id))

    async def wait(self, *, progress: bool | Show = False) -> Self:
        """Waits until all of its chunks have ended; its `status` says whether all of them were made.

        `progress` is true for a bar in the terminal (which needs tqdm), or called with a `SampleBatchProgress` whenever more is
        known.
        """
        return await self._stands(sampling.wait_for_batch(self._client.session, self.id, progress))

    async def smiles(self, *, progress: bool | Show = False) -> AsyncGenerator[str, None]:
        """Yields the molecules as their chunks are made. `progress` is that of `wait`.

        Raises `SampleFailed` after the last one if chunks have failed.
        """
        error: str | None = None
        async with aclosing(self.results(progress=progress)) as chunks:
            async for chunk in chunks:
                error = error or chunk.error
                for smiles in chunk.smiles:
                    yield smiles
        if error is not None:
            raise SampleFailed(f"the batch {self.id} has not all of its molecules: {error}")

    def results(self, *, skip: Collection[str] = (), progress: bool | Show = False) -> AsyncGenerator[Sample, None]:
        """Yields each chunk that is completed or has failed, as soon as that is known.

        Ends with the last one. A failed one has an `error` and no molecules. Chunks whose ids are in `skip` are left out: those
        that an earlier program has read. `progress` is that of `wait`.
        """
        return self._client.iterate(sampling.results_of_batch(self._client.session, self.id, skip, progress))

    async def cancel(self) -> Self:
        """Ends it: completed chunks stay, and the others fail."""
        return await self._stands(sampling.cancel_batch(self._client.session, self.id))

    async def delete(self) -> None:
        """Deletes it with its molecules."""
        await self._client.run(sampling.delete_batch(self._client.session, self.id))

    async def _stands(self, steps: Steps[SampleBatchBody]) -> Self:
        self.body = await self._client.run(steps)
        return self


class AsyncSampleBatches:
    """The sample batches of the account, and of those that it shares samples with."""

    def __init__(self, client: AsyncRunner) -> None:
        self._client = client

    async def create(self, size: int, model_id: str | None = None, **conditions: Unpack[SampleConditions]) -> AsyncSampleBatch:
        """Stores a request for `size` molecules (1 to 100,000), with the conditions of a sample.

        The batch survives this program once this returns.

        Raises `InvalidRequest`, whose `faults` name the conditions that are at fault, and `Conflict` if too many molecules of the
        account wait already.
        """
        body = await self._client.run(sampling.create_batch(self._client.session, size, model_id, conditions))
        return AsyncSampleBatch(self._client, body)

    async def retrieve(self, batch_id: str) -> AsyncSampleBatch:
        """Returns a batch by its id, in another program too."""
        return AsyncSampleBatch(self._client, await self._client.run(sampling.retrieve_batch(self._client.session, batch_id)))

    async def list(self) -> AsyncIterator[AsyncSampleBatch]:
        """Yields all batches, newest first. Pages are fetched as they are read; batches may be deleted meanwhile."""
        async for body in self._client.iterate(sampling.list_batches(self._client.session)):
            yield AsyncSampleBatch(self._client, body)
