"""Sample batches: what is asked of a service, and what comes of answers that no service has on demand."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from worlds import BOTH, BatchWorld, Call

from retort_client import (
    DeadlinePassed,
    Retort,
    RetryPolicy,
    Sample,
    SampleBatch,
    SampleBatchProgress,
    SampleConditions,
    SampleFailed,
)

URL = "http://service.example"
NOW = "2026-01-01T00:00:00Z"


class World(BatchWorld):
    """A batch of two molecules a chunk."""

    root, parts, after, cancelled = "/generator/v1/", "samples", "next-page", "failed"

    def batch(self) -> dict[str, Any]:
        said = list(self.status.values())
        completed, failed, count = said.count("completed"), said.count("failed"), len(said)
        status = "processing" if completed + failed < count else "failed" if failed else "completed"
        batch = {"id": "sbt_1", "object": "sample_batch", "created_at": NOW, "size": 2 * count, "model_id": None, "status": status}
        return batch | {"chunk_count": count, "completed_chunks": completed, "failed_chunks": failed, "chunks_created": True}

    def part(self, place: int) -> dict[str, Any]:
        status = self.status[place]
        smiles = ["C" * (place + 1), "N" * (place + 1)] if status == "completed" else []
        error = "too few molecules" if status == "failed" else None
        chunk = {"id": f"smp_{place}", "object": "sample", "created_at": NOW, "batch_id": "sbt_1", "model_id": "m"}
        return chunk | {"status": status, "smiles": smiles, "error": error}

    def page(self, parts: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
        return {"object": "list", "data": parts, "has_more": has_more}


def results(skip: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: SampleBatch = yield retort.sample_batches.retrieve("sbt_1")
        found: list[Sample] = yield batch.results(skip=skip)
        return [(chunk.id, chunk.status) for chunk in found]

    return act


@pytest.mark.parametrize("call", BOTH)
def test_chunks_come_as_they_are_made_each_once_and_failures_too(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(4, [{}, {1: "completed"}, {}, {0: "completed", 3: "failed"}, {2: "completed"}], monkeypatch)

    found = call(results(), URL, "t", **world.options)

    assert found == [("smp_1", "completed"), ("smp_0", "completed"), ("smp_3", "failed"), ("smp_2", "completed")]


@pytest.mark.parametrize("call", BOTH)
def test_a_batch_that_is_made_gives_its_chunks_in_order_and_only_once_asked(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retort_client.pages.LARGEST_PAGE", 2)
    world = World(5, [dict.fromkeys(range(5), "completed")], monkeypatch)

    found = call(results(skip=("smp_1",)), URL, "t", **world.options)

    assert [chunk for chunk, _ in found] == ["smp_0", "smp_2", "smp_3", "smp_4"]
    batch, chunks = "sample-batches/sbt_1", "sample-batches/sbt_1/samples"
    assert world.asked == [batch, batch, f"{chunks}?", f"{chunks}?smp_3", f"{chunks}?smp_1"]


@pytest.mark.parametrize("call", BOTH)
def test_chunks_are_read_only_when_more_have_ended_the_first_ones_first(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [{}, {}, {}, {0: "completed"}, {1: "completed", 2: "completed"}, {}, {3: "completed"}]
    world = World(4, ends, monkeypatch)

    found = call(results(), URL, "t", **world.options)

    assert [chunk for chunk, _ in found] == ["smp_0", "smp_1", "smp_2", "smp_3"]
    assert [path for path in world.asked if path.startswith("samples/")] == [f"samples/smp_{place}" for place in range(4)]


@pytest.mark.parametrize("call", BOTH)
def test_a_service_that_is_away_for_a_while_ends_no_waiting(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1, [{}, {}, {}, {0: "completed"}], monkeypatch)
    world.lost = {"sample-batches/sbt_1": 3, "sample-batches/sbt_1/samples": 9, "samples/smp_0": 9}

    assert call(results(), URL, "t", **world.options) == [("smp_0", "completed")]


@pytest.mark.parametrize("call", BOTH)
def test_molecules_come_chunk_by_chunk(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(2, [{}, {0: "completed"}, {1: "completed"}], monkeypatch)

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: SampleBatch = yield retort.sample_batches.retrieve("sbt_1")
        return (yield batch.smiles())

    assert call(act, URL, "t", **world.options) == ["C", "N", "CC", "NN"]


def test_missing_molecules_are_told_after_those_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(2, [{0: "failed", 1: "completed"}], monkeypatch)
    found: list[str] = []

    with Retort(URL, "t", **world.options) as retort:
        batch = retort.sample_batches.retrieve("sbt_1")
        with pytest.raises(SampleFailed, match="sbt_1 has not all of its molecules: too few molecules"):
            found.extend(batch.smiles())

    assert found == ["CC", "NN"]


@pytest.mark.parametrize("call", BOTH)
def test_waiting_ends_with_the_last_chunk_and_tells_how_far_it_has_come(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(3, [{}, {}, {0: "completed"}, {1: "failed", 2: "completed"}], monkeypatch)
    told: list[SampleBatchProgress] = []

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: SampleBatch = yield retort.sample_batches.retrieve("sbt_1")
        return (yield batch.wait(progress=told.append))

    batch = call(act, URL, "t", **world.options)

    assert [(each.ended, each.total) for each in told] == [(0, 3), (1, 3), (3, 3)]
    assert batch.status == "failed"
    assert repr(batch) == "<sample batch sbt_1: 6 molecules, 2 of 3 chunks completed, 1 failed>"


def test_a_bar_counts_the_chunks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    world = World(2, [{}, {0: "completed", 1: "failed"}], monkeypatch)

    with Retort(URL, "t", **world.options) as retort:
        retort.sample_batches.retrieve("sbt_1").wait(progress=True)

    bar = capsys.readouterr().err
    assert "2/2" in bar
    assert "failed=1" in bar


@pytest.mark.parametrize("call", BOTH)
def test_a_cancellation_whose_answer_was_lost_is_sent_again(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(2, [{0: "completed"}], monkeypatch)
    world.lost = {"sample-batches/sbt_1/cancel": 1}

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: SampleBatch = yield retort.sample_batches.retrieve("sbt_1")
        return (yield batch.cancel())

    assert call(act, URL, "t", **world.options).progress == SampleBatchProgress(completed=1, failed=1, total=2)


@pytest.mark.parametrize("call", BOTH)
def test_a_batch_takes_what_a_sample_takes_and_is_asked_for_again_by_its_key(call: Call) -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(504)

    options = {"transport": httpx.MockTransport(answer), "retry_policy": RetryPolicy(attempts=2, first_wait=0)}
    wanted: SampleConditions = {"properties": {"mw": {"lte": 300}}, "details": True}
    with pytest.raises(DeadlinePassed):
        call(lambda retort: retort.samples.create(2, "m", **wanted), URL, "t", **options)
    with pytest.raises(DeadlinePassed):
        call(lambda retort: retort.sample_batches.create(2, "m", **wanted), URL, "t", **options)

    sample, *batches = sent
    assert [json.loads(request.content) for request in sent] == [{"size": 2, "model_id": "m", **wanted}] * 3
    assert "idempotency-key" not in sample.headers
    assert len({request.headers["idempotency-key"] for request in batches}) == 1
