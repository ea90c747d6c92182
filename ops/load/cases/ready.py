"""Samples that lie ready, and molecules that come again."""

from dataclasses import dataclass

from recording import CallerGroup, Deadlines, times
from trial import DEFAULT_MODEL, Figure, Stage, Trial, milliseconds, seconds, statuses

LARGE = 10_000


@dataclass(frozen=True)
class Ready(Trial):
    """An account asks at once for large samples that all lie ready."""

    name = "ready"
    short = {"samples": 5}
    # Few samples, and a deadline before which so many could not be drawn: they need not be, for they are there.
    short_deadlines = Deadlines(sample=5.0)
    samples: int = 60

    def run(self, stage: Stage) -> list[Figure]:
        # As many as lie ready when the reservoir is nine tenths full.
        size = self.samples * LARGE * 10 // 9
        with stage.installation({"RESERVOIR_SIZE": str(size), "SAMPLER_MODELS": DEFAULT_MODEL}) as on:
            on.api()
            on.sampler()
            account = stage.account(on, "eager")
            on.service(account.token).wait_for_molecules(DEFAULT_MODEL, self.samples * LARGE)
            stage.event("all are asked for")
            sample = stage.deadlines.a_sample(LARGE, DEFAULT_MODEL)
            records = CallerGroup(stage.log, account, times(1, sample), self.samples, honours_retry_after=True).wait()
        return [
            Figure("samples that lie ready", self.samples),
            Figure("times refused or too late (503, 504)", statuses(records, 503, 504, 0), at_most=0),
            Figure("times told to take turns (429)", statuses(records, 429)),
            Figure("longest Retry-After", max((record.retry_after or 0 for record in records), default=0), "s"),
            Figure("answered in the end", statuses(records, 200), at_least=self.samples),
            Figure("sample of 10,000, p50", milliseconds(seconds(records), 0.5), "ms", is_timing=True),
            Figure("until all were there", max(r.ended for r in records) - min(r.started for r in records), "s", is_timing=True),
        ]


@dataclass(frozen=True)
class Twice(Trial):
    """Molecules that an account gets a second time within many large samples."""

    name = "twice"
    short = {"samples": 2}
    samples: int = 10

    def run(self, stage: Stage) -> list[Figure]:
        size = self.samples * LARGE * 10 // 9
        with stage.installation({"RESERVOIR_SIZE": str(size), "SAMPLER_MODELS": DEFAULT_MODEL}) as on:
            on.api()
            on.sampler()
            account = stage.account(on, "collector")
            service = on.service(account.token)
            service.wait_for_molecules(DEFAULT_MODEL, self.samples * LARGE)
            sample = stage.deadlines.a_sample(LARGE, DEFAULT_MODEL)
            records = CallerGroup(stage.log, account, times(self.samples, sample), honours_retry_after=True).wait()
            known: set[str] = set()
            all_molecules = 0
            for record in records:
                if record.status == 200:
                    molecules = service.call("GET", f"/generator/v1/samples/{record.held['id']}").json()["smiles"]
                    known.update(molecules)
                    all_molecules += len(molecules)
        again = 100 * (1 - len(known) / all_molecules) if all_molecules else None
        return [Figure("molecules", all_molecules, at_least=self.samples * LARGE), Figure("of these came before", again, "%")]
