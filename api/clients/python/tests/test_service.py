"""Against a service that runs."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Generator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from conftest import Installation
from worlds import BOTH, Call, with_threads

from retort_client import (
    Forbidden,
    InvalidRequest,
    NotFound,
    Plan,
    RateLimited,
    Retort,
    RetryPolicy,
    Sample,
    SampleBatch,
    Unauthorized,
)
from retort_client.authorization import kept_logins
from retort_client.wire import PropertyRange

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("call", BOTH)
def test_a_sample_is_made_found_and_deleted(call: Call, installation: Installation) -> None:
    made = call(lambda retort: retort.samples.create(3), installation.url, installation.token)
    found = call(lambda retort: retort.samples.retrieve(made.id), installation.url, installation.token)
    listed = call(lambda retort: retort.samples.list(), installation.url, installation.token)
    call(lambda retort: retort.samples.delete(made.id), installation.url, installation.token)

    assert len(set(made.smiles)) == 3
    assert found == made
    assert (listed[0].id, listed[0].num_smiles, listed[0].created_at) == (made.id, 3, made.created_at)
    with pytest.raises(NotFound) as caught:
        call(lambda retort: retort.samples.retrieve(made.id), installation.url, installation.token)
    assert caught.value.request_id


@pytest.mark.parametrize("call", BOTH)
def test_a_sample_batch_is_gone_on_with_by_its_id_and_ends(call: Call, installation: Installation) -> None:
    made = call(
        lambda retort: retort.sample_batches.create(501, alerts=["pains"], details=True), installation.url, installation.token
    )

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: SampleBatch = yield retort.sample_batches.retrieve(made.id)
        chunks: list[Sample] = yield batch.results()
        smiles: list[str] = yield batch.smiles()
        listed: list[SampleBatch] = yield retort.sample_batches.list()
        yield batch.wait()
        yield batch.delete()
        return batch, chunks, smiles, listed

    batch, chunks, smiles, listed = call(act, installation.url, installation.token)

    assert (batch.status, batch.progress.completed, len(set(smiles))) == ("completed", 2, 501)
    assert {each for chunk in chunks for each in chunk.smiles} == set(smiles)
    assert all(len(chunk.details.properties["mw"]) == len(chunk.smiles) for chunk in chunks)
    assert listed[0].id == made.id
    with pytest.raises(NotFound):
        call(lambda retort: retort.sample_batches.retrieve(made.id), installation.url, installation.token)


@pytest.mark.parametrize("call", BOTH)
def test_a_cancelled_sample_batch_has_failed_and_says_so(call: Call, installation: Installation) -> None:
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: SampleBatch = yield retort.sample_batches.create(100_000)
        yield batch.cancel()
        chunks: list[Sample] = yield batch.results()
        yield batch.delete()
        return batch, chunks

    batch, chunks = call(act, installation.url, installation.token)

    assert (batch.status, len(chunks)) == ("failed", 200)
    assert chunks[-1].error is not None
    with pytest.raises(InvalidRequest) as caught:
        call(lambda retort: retort.sample_batches.create(100_001, alerts=["x"]), installation.url, installation.token)
    assert [fault.path for fault in caught.value.faults] == ["body.size", "body.alerts.0"]


@pytest.mark.parametrize("call", BOTH)
def test_a_sample_to_order_has_what_was_ordered_and_faults_are_named(call: Call, installation: Installation) -> None:
    small: dict[str, PropertyRange] = {"heavy_atoms": {"lte": 22}, "mw": {"gte": 100}}
    made = call(
        lambda retort: retort.samples.create(3, properties=small, seed=5, details=True), installation.url, installation.token
    )

    sizes = made.details.properties["heavy_atoms"]
    assert (len(made.smiles), len(sizes), max(sizes) <= 22) == (3, 3, True)
    with pytest.raises(InvalidRequest) as caught:
        call(lambda retort: retort.samples.create(1, properties={"mw": {}}, alerts=["x"]), installation.url, installation.token)
    assert [fault.path for fault in caught.value.faults] == ["body.properties.mw", "body.alerts.0"]


def test_samples_may_be_deleted_as_they_are_read_from_page_to_page(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retort_client.pages.LARGEST_PAGE", 2)
    with Retort(installation.url, installation.token) as retort:
        made = [retort.samples.create(1).id for _ in range(5)]
        deleted: list[str] = []
        for sample in retort.samples.list():
            retort.samples.delete(sample.id)
            deleted.append(sample.id)

        assert deleted[:5] == made[::-1]
        assert list(retort.samples.list()) == []


@pytest.mark.parametrize("call", BOTH)
def test_models_say_what_they_are(call: Call, installation: Installation) -> None:
    models = call(lambda retort: retort.models.list(), installation.url, installation.token)
    model = call(lambda retort: retort.models.retrieve(models[0].id), installation.url, installation.token)

    assert (model.id, model.licence) == (models[0].id, "CC-BY-SA-3.0")
    training_set = model.metrics["training_set"]
    drawn = [metrics for name, metrics in model.metrics.items() if name != "training_set" and metrics.properties]
    histogram = training_set.properties["molecular_weight"].histogram
    assert drawn and all(metrics.properties["heavy_atoms"].mean > 10 for metrics in drawn)
    assert histogram is not None and sum(histogram.counts) == training_set.n_molecules
    with pytest.raises(InvalidRequest, match="names something that is not there"):
        call(lambda retort: retort.samples.create(1, "no_such_model"), installation.url, installation.token)


@pytest.mark.parametrize("call", BOTH)
def test_a_plan_has_priced_routes_by_backbone(call: Call, installation: Installation) -> None:
    plan: Plan = call(
        lambda retort: retort.plan(installation.target, early_exit_first_solution=False, max_seconds=2, amount_mmol=5),
        installation.url,
        installation.token,
    )

    assert plan.target == installation.target
    assert [route.rank for route in plan.routes] == list(range(1, len(plan) + 1))
    assert len(plan) > 1
    assert sum(len(group.routes) for group in plan.groups) == len(plan)
    for route in plan.routes:
        assert route.target.smiles == plan.target
        assert route.depth == max(molecule.data.depth for molecule in route.target.walk())
        assert all(block.offers for block in route.building_blocks)
        assert route.shopping_list is not None
        assert route.shopping_list.amount_mmol == 5


def test_a_plan_reads_as_the_command_line_prints_it(installation: Installation) -> None:
    printed = subprocess.run([*installation.command, "plan", installation.target], check=True, capture_output=True, text=True)
    plan = with_threads(lambda retort: retort.plan(installation.target), installation.url, installation.token)

    def without_seconds(words: str) -> str:
        return re.sub(r"\d+\.\d\d s", "… s", words)

    assert without_seconds(str(plan)) == without_seconds(printed.stdout.rstrip("\n"))


@pytest.mark.parametrize("call", BOTH)
def test_a_target_without_a_route_is_an_answer_that_says_why(call: Call, installation: Installation) -> None:
    plan: Plan = call(lambda retort: retort.plan("FC(F)(F)F"), installation.url, installation.token)

    assert not plan
    assert plan.metadata.search is not None
    assert (plan.metadata.search.stopped_by, plan.metadata.search.exhausted) == (("FC(F)(F)F",), True)
    assert f"{plan.target}\nno route found in" in str(plan)


@pytest.mark.parametrize("call", BOTH)
def test_every_bad_setting_is_named_at_its_place(call: Call, installation: Installation) -> None:
    with pytest.raises(InvalidRequest) as caught:
        call(
            lambda retort: retort.plan("C(", max_depth=99, ships_to="Mars"),  # pyright: ignore[reportArgumentType]
            installation.url,
            installation.token,
        )

    assert {fault.path: fault.kind for fault in caught.value.faults} == {
        "body.search_smiles": "smiles_invalid",
        "body.max_depth": "less_than_equal",
        "body.ships_to": "enum",
    }


@pytest.mark.parametrize("call", BOTH)
def test_who_may_not_is_told_why(call: Call, installation: Installation) -> None:
    with pytest.raises(Unauthorized):
        call(lambda retort: retort.models.list(), installation.url, "no.token.ofours")
    with pytest.raises(Forbidden, match=r"lacks the scope generator_api.samples:create"):
        call(lambda retort: retort.samples.create(1), installation.url, installation.reader_token)


@pytest.mark.parametrize("call", BOTH)
def test_a_spent_ration_says_when_there_is_more(call: Call, installation: Installation) -> None:
    def twice() -> None:
        for _ in range(2):
            options = {"retry_policy": RetryPolicy(attempts=1)}
            call(lambda retort: retort.samples.list(), installation.url, installation.rationed_token, **options)

    with pytest.raises(RateLimited) as caught:
        twice()

    assert caught.value.retry_after is not None
    assert 0 < caught.value.retry_after <= 60


class Form(HTMLParser):
    """A page's form: where it leads, and its hidden fields."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action, self.fields = "", dict[str, str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = attributes["action"]
        if tag == "input" and attributes.get("type") == "hidden":
            self.fields[attributes["name"]] = attributes["value"]


def let_in(installation: Installation, address: str, code: str) -> None:
    """What a person does in a browser: logs in, types the code, allows."""
    # A person waits: on a busy machine a password takes seconds to check.
    with httpx.Client(headers={"Origin": installation.url}, follow_redirects=True, timeout=60) as browser:
        page = browser.get(address).text
        for typed in ({"email": installation.email, "password": installation.password}, {"user_code": code}, {"decision": "allow"}):
            form = Form(page)
            page = browser.post(urljoin(installation.url, form.action), data=form.fields | typed).text


@pytest.mark.usefixtures("configuration")
def test_a_login_by_a_browser_is_kept_renewed_and_ended(installation: Installation) -> None:
    persons: list[threading.Thread] = []

    def show(address: str, code: str) -> None:
        persons.append(threading.Thread(target=let_in, args=(installation, address, code)))
        persons[0].start()

    with Retort.login(installation.url, show=show) as retort:
        persons[0].join()
        first = kept_logins().find(installation.url)
        assert first is not None
        assert retort.models.list()

        aged = first.model_copy(update={"expires_at": time.time()})
        kept_logins().keep(installation.url, aged)
        assert retort.models.list()
        second = kept_logins().find(installation.url)
        assert second is not None
        assert (second.access_token == first.access_token, second.refresh_token == first.refresh_token) == (False, False)

        retort.logout()
        assert kept_logins().find(installation.url) is None
    with Retort(installation.url, second.access_token) as ended, pytest.raises(Unauthorized):
        ended.models.list()
