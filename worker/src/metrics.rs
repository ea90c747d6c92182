//! Metrics of samplers and searchers beside their queues.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use generator::StringCounts;
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram, Meter},
};
use synth::{Planner, SearchResult};
use telemetry::meter;

use crate::{CatalogueView, ReadyCounts};

/// Histogram bounds of a search's stages, in seconds.
const STAGE_BOUNDS_SECONDS: [f64; 12] =
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0];

/// Histogram bounds of a search's memory in bytes: powers of four from 1 MiB.
const MEMORY_BOUNDS_BYTES: [f64; 7] =
    [1048576.0, 4194304.0, 16777216.0, 67108864.0, 268435456.0, 1073741824.0, 4294967296.0];

static SAMPLING: LazyLock<Sampling> = LazyLock::new(|| Sampling::new(&meter()));
static SEARCHING: LazyLock<Searching> = LazyLock::new(|| Searching::new(&meter()));

fn model(id: &str) -> KeyValue {
    KeyValue::new("retort.model.id", id.to_owned())
}

struct Sampling {
    strings: Counter<u64>,
    molecules: Counter<u64>,
    refilled: Counter<u64>,
}

impl Sampling {
    fn new(meter: &Meter) -> Self {
        Self {
            strings: meter
                .u64_counter("retort.strings")
                .with_unit("{string}")
                .with_description(
                    "Strings that a model wrote: new molecules, those that their sample had or refused, or none",
                )
                .build(),
            molecules: meter
                .u64_counter("retort.sample.molecules")
                .with_unit("{molecule}")
                .with_description("Molecules in stored samples, from the reservoir or drawn for them")
                .build(),
            refilled: meter
                .u64_counter("retort.reservoir.refilled")
                .with_unit("{molecule}")
                .with_description("Molecules that were put into the reservoir")
                .build(),
        }
    }
}

/// Counts strings that a model has drawn.
pub(crate) fn drawn(model_id: &str, tally: StringCounts) {
    let results = [
        ("new", tally.distinct),
        ("duplicate", tally.duplicates()),
        ("refused", tally.refused),
        ("invalid", tally.strings - tally.valid),
    ];
    for (result, strings) in results {
        SAMPLING.strings.add(strings, &[model(model_id), KeyValue::new("result", result)]);
    }
}

/// Counts a stored sample.
pub(crate) fn stored(model_id: &str, ready: usize, drawn: usize) {
    for (source, molecules) in [("reservoir", ready), ("drawn", drawn)] {
        SAMPLING.molecules.add(molecules as u64, &[model(model_id), KeyValue::new("source", source)]);
    }
}

/// Counts a block that was put into the reservoir.
pub(crate) fn refilled(model_id: &str, molecules: usize) {
    SAMPLING.refilled.add(molecules as u64, &[model(model_id)]);
}

/// Exports the molecules ready in the reservoir, as this process counts them; all samplers count the same reservoir.
pub fn observe_sampler(ready: &ReadyCounts) {
    observe_levels("retort.reservoir.level", "Molecules that lie ready", ready);
}

fn observe_levels(name: &'static str, description: &'static str, ready: &ReadyCounts) {
    let levels = ready.subscribe();
    meter()
        .u64_observable_gauge(name)
        .with_unit("{molecule}")
        .with_description(description)
        .with_callback(move |observer| {
            for (id, &level) in &*levels.borrow() {
                observer.observe(level as u64, &[model(id)]);
            }
        })
        .build();
}

struct Searching {
    searches: Counter<u64>,
    stages: Histogram<f64>,
    first_route: Histogram<f64>,
    memory: Histogram<u64>,
    expansions: Counter<u64>,
    applications: Counter<u64>,
    routes: Counter<u64>,
    refused: Counter<u64>,
}

impl Searching {
    fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, described: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(described);
            histogram.with_boundaries(STAGE_BOUNDS_SECONDS.to_vec()).build()
        };
        let count = |name: &'static str, unit: &'static str, described: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(described).build()
        };
        Self {
            searches: count(
                "retort.searches",
                "{search}",
                "Searches, by whether they found a route and why they ended",
            ),
            stages: seconds("retort.search.stage.duration", "How long a search's stages took, each in all"),
            first_route: seconds(
                "retort.search.first_route.duration",
                "From a search's start to its first route",
            ),
            memory: meter
                .u64_histogram("retort.search.memory")
                .with_unit("By")
                .with_description("What a search took at most, the answer included")
                .with_boundaries(MEMORY_BOUNDS_BYTES.to_vec())
                .build(),
            expansions: count(
                "retort.search.expansions",
                "{expansion}",
                "Batches of templates applied to a molecule",
            ),
            applications: count(
                "retort.search.template_applications",
                "{application}",
                "Templates tried on a molecule",
            ),
            routes: count("retort.search.routes", "{route}", "Routes that were validated, by verdict"),
            refused: count(
                "retort.search.refusals",
                "{refusal}",
                "Steps and routes refused in validation, by reason",
            ),
        }
    }
}

/// Records a finished search with its offers.
pub(crate) fn searched(plan: &SearchResult, is_early_exit: bool, annotation: Duration) {
    let (counts, timings) = (&plan.counts, &plan.timings);
    let ended = match plan {
        plan if plan.exhausted => "exhausted",
        plan if is_early_exit && plan.solved() => "first_route",
        _ => "budget",
    };
    let attributes = [KeyValue::new("solved", plan.solved()), KeyValue::new("ended", ended)];
    SEARCHING.searches.add(1, &attributes);
    let stages = [
        ("expansion", timings.search),
        ("extraction", timings.extraction),
        ("validation", timings.validation),
        ("annotation", annotation),
    ];
    for (stage, took) in stages {
        SEARCHING.stages.record(took.as_secs_f64(), &[KeyValue::new("stage", stage)]);
    }
    if let Some(first_route) = timings.first_route {
        SEARCHING.first_route.record(first_route.as_secs_f64(), &[]);
    }
    SEARCHING.memory.record(counts.memory_bytes, &[]);
    SEARCHING.expansions.add(counts.expansions, &[]);
    SEARCHING.applications.add(counts.template_applications, &[]);
    for (verdict, routes) in [("valid", counts.validated_routes), ("refused", counts.unvalidated_routes)] {
        SEARCHING.routes.add(routes, &[KeyValue::new("verdict", verdict)]);
    }
    let refusals = [
        ("unsound", counts.refusals.unsound),
        ("product_not_regained", counts.refusals.product_not_regained),
        ("competing_site", counts.refusals.competing_site),
        ("inconsistent", counts.refusals.inconsistent),
    ];
    for (reason, refused) in refusals {
        SEARCHING.refused.add(refused, &[KeyValue::new("reason", reason)]);
    }
}

/// Exports metrics of the state that the process' searches share, and the makeable molecules that lie ready, which
/// all searchers count alike.
pub fn observe_searcher(planner: &Arc<Planner>, catalogue: &CatalogueView, makeable: &ReadyCounts) {
    observe_levels("retort.makeable.level", "Makeable molecules that lie ready", makeable);
    let meter = meter();
    let of_lookups = Arc::clone(planner);
    meter
        .u64_observable_counter("retort.search.cache.lookups")
        .with_unit("{lookup}")
        .with_description("Molecules looked up in the cache of expansions, by result")
        .with_callback(move |observer| {
            let (hits, misses) = of_lookups.cache_hits_and_misses();
            observer.observe(hits, &[KeyValue::new("result", "hit")]);
            observer.observe(misses, &[KeyValue::new("result", "miss")]);
        })
        .build();
    let of_size = Arc::clone(planner);
    meter
        .u64_observable_gauge("retort.search.cache.size")
        .with_unit("By")
        .with_description("What the cache of expansions takes")
        .with_callback(move |observer| observer.observe(of_size.cached_bytes(), &[]))
        .build();
    let blocks = catalogue.clone();
    meter
        .u64_observable_gauge("retort.catalogue.building_blocks")
        .with_unit("{building_block}")
        .with_description("Building blocks of the catalogue that searches use")
        .with_callback(move |observer| observer.observe(blocks.now().len() as u64, &[]))
        .build();
}
