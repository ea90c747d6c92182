"""What is sent again and what is not, by faults that no service has on demand."""

from __future__ import annotations

import json

import httpx
import pytest
from compacted import compacted
from worlds import BOTH, Call, answering

from retort_client import (
    BadAnswer,
    DeadlinePassed,
    InvalidRequest,
    Plan,
    RateLimited,
    RetortError,
    RetryPolicy,
    ServiceFault,
    TimedOut,
    Unavailable,
    Unreachable,
)
from retort_client.calls import GivenToken, Session, call
from retort_client.exchange import Answer, Effect, Pause, Request, Steps

URL = "http://service.example"
SAMPLE = {"id": "smp_1", "object": "sample", "model_id": "m", "smiles": ["CCO"]}
LOST = httpx.ReadError("connection reset")


def busy(status: int, seconds: str = "0") -> httpx.Response:
    return httpx.Response(status, headers={"Retry-After": seconds})


def played(steps: Steps[Answer], *answers: Answer) -> tuple[Answer | RetortError, list[Effect]]:
    """What comes of a call that gets these answers, and all that it did."""
    effects: list[Effect] = []
    given = iter(answers)
    try:
        effect = next(steps)
        while True:
            effects.append(effect)
            effect = steps.send(next(given) if isinstance(effect, Request) else None)
    except StopIteration as end:
        return end.value, effects
    except RetortError as error:
        return error, effects


def pauses(*answers: Answer, method: str = "POST", retry_policy: RetryPolicy | None = None) -> list[float]:
    session = Session(GivenToken("t"), retry_policy or RetryPolicy())
    _, effects = played(call(session, Request(method, "/x")), *answers)
    return [effect.seconds for effect in effects if isinstance(effect, Pause)]


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize("status", [429, 503])
def test_what_the_service_refused_undone_is_sent_again_when_it_says(call: Call, status: int) -> None:
    sent, options = answering(busy(status), busy(status), httpx.Response(200, json=SAMPLE))

    sample = call(lambda retort: retort.samples.create(1), URL, "t", **options)

    assert sample.smiles == ("CCO",)
    assert [request.content for request in sent] == [b'{"size":1}'] * 3


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize(
    ("answer", "error"),
    [(504, DeadlinePassed), (502, ServiceFault), (LOST, Unreachable), (httpx.ReadTimeout(""), TimedOut)],
)
def test_work_that_may_have_been_done_is_not_asked_for_again(call: Call, answer: int | Exception, error: type[RetortError]) -> None:
    sent, options = answering(httpx.Response(answer) if isinstance(answer, int) else answer)

    with pytest.raises(error):
        call(lambda retort: retort.plan("CCO"), URL, "t", **options)

    assert len(sent) == 1


@pytest.mark.parametrize("call", BOTH)
def test_what_is_only_read_is_read_again_after_any_loss_on_the_way(call: Call) -> None:
    sent, options = answering(LOST, httpx.Response(502), httpx.Response(504), httpx.Response(200, json=SAMPLE))

    sample = call(lambda retort: retort.samples.retrieve("smp_1"), URL, "t", **options)

    assert (sample.id, len(sent)) == ("smp_1", 4)


@pytest.mark.parametrize("call", BOTH)
def test_a_sample_that_is_gone_after_a_lost_answer_was_deleted(call: Call) -> None:
    sent, options = answering(LOST, httpx.Response(404, json=None))

    call(lambda retort: retort.samples.delete("smp_1"), URL, "t", **options)

    assert [request.method for request in sent] == ["DELETE", "DELETE"]


@pytest.mark.parametrize("call", BOTH)
def test_the_last_refusal_is_told_with_its_time(call: Call) -> None:
    sent, options = answering(*[busy(429)] * 3, busy(429, "7"))

    with pytest.raises(RateLimited) as caught:
        call(lambda retort: retort.models.list(), URL, "t", **options)

    assert (len(sent), caught.value.retry_after, caught.value.status) == (4, 7.0, 429)


def test_waits_are_those_that_the_service_names_and_else_double() -> None:
    undone = Answer(503, {}, b"")

    assert pauses(Answer(429, {"retry-after": "3"}, b""), Answer(200, {}, b"")) == [3.0]
    assert pauses(undone, undone, undone, undone) == [0.5, 1.0, 2.0]
    assert pauses(undone, undone, undone, retry_policy=RetryPolicy(attempts=3, first_wait=40)) == [40.0, 60.0]


def test_a_service_that_wants_more_patience_than_there_is_is_not_asked_again() -> None:
    result, effects = played(call(Session(GivenToken("t")), Request("GET", "/x")), Answer(503, {"retry-after": "61"}, b""))

    assert isinstance(result, Unavailable)
    assert result.retry_after == 61.0
    assert len(effects) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("5", 5.0), ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0), ("Mon, 01 Jan 2001 00:00:00 -0000", 0.0), ("soon", None), ("-1", None)],
)
def test_a_time_to_come_back_is_a_number_or_a_date(header: str, seconds: float | None) -> None:
    assert Answer(503, {"retry-after": header}, b"").retry_after == seconds


@pytest.mark.parametrize("call", BOTH)
def test_an_answer_of_another_program_is_told_as_such(call: Call) -> None:
    _, options = answering(httpx.Response(200, text="<html>it works</html>"))

    with pytest.raises(BadAnswer, match="no Sample"):
        call(lambda retort: retort.samples.retrieve("smp_1"), URL, "t", **options)


@pytest.mark.parametrize("call", BOTH)
def test_a_refusal_of_a_proxy_has_no_faults_and_says_its_status(call: Call) -> None:
    _, options = answering(httpx.Response(413, text="too large"))

    with pytest.raises(InvalidRequest, match=r"the request is refused \(413\)") as caught:
        call(lambda retort: retort.plan("CCO"), URL, "t", **options)

    assert caught.value.faults == ()


@pytest.mark.parametrize("call", BOTH)
def test_names_in_an_address_are_quoted(call: Call) -> None:
    sent, options = answering(httpx.Response(200, json=SAMPLE))

    call(lambda retort: retort.samples.retrieve("../models?x=é"), URL, "t", **options)

    assert sent[0].url.raw_path == b"/generator/v1/samples/..%2Fmodels%3Fx%3D%C3%A9"


@pytest.mark.parametrize("call", BOTH)
def test_settings_go_out_as_they_are_and_nothing_else_does(call: Call, recorded: str) -> None:
    sent, options = answering(httpx.Response(200, json=compacted(json.loads(recorded))))

    plan = call(lambda retort: retort.plan("CCO", ships_to=None, max_seconds=1), URL, "secret", **options)

    assert sent[0].url.raw_path == b"/synth/v1/treesearch?view=compact"
    assert sent[0].content == b'{"search_smiles":"CCO","ships_to":null,"max_seconds":1}'
    assert (sent[0].headers["authorization"], sent[0].headers["accept"]) == (
        "Bearer secret",
        "application/vnd.retort.treesearch+json, application/json",
    )
    assert (plan.ships_to, plan.answer) == (None, Plan.from_json(recorded).answer)
    assert sent[0].extensions["timeout"]["read"] == 61.0


@pytest.mark.parametrize("url", ["service.example", "ftp://service.example", "http://"])
def test_an_address_that_leads_nowhere_is_refused_at_once(url: str) -> None:
    for client in BOTH:
        with pytest.raises(ValueError, match="not the address of a service"):
            client(lambda retort: retort.models.list(), url, "t")
