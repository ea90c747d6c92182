//! Invariants of every body and query, for the fuzz target in `ops/fuzz` and for the test here, which uses the same
//! seeds.

use std::fmt::Debug;

use contract::{
    MAX_BATCH, MAX_BULK_QUERY, MAX_KEPT_NODES, MAX_LIKELIHOODS, MAX_SAMPLE_BATCH, MAX_SAMPLE_SIZE,
};
use http_errors::{ApiError, query_pairs};
use serde::Serialize;

use crate::{
    endpoints::{
        batches, bulk_queries, kept_routes, likelihoods, paging, plans, sample_batches, samples, treesearch,
    },
    fields::Faults,
    word_pattern::is_word,
};

const MAX_SECONDS: f64 = 120.0;

/// Parses a request body or its query. Either it is refused with at least one fault and not too many, or it matches
/// the contract and survives a round trip through our serialisation.
pub fn bodies(input: &[u8]) {
    if let Some(sample) = read(samples::parse_create, input) {
        assert!((1..=MAX_SAMPLE_SIZE).contains(&sample.size));
        assert!(sample.model_id.as_deref().is_none_or(is_word));
        is_read_again(samples::parse_create, &sample);
    }
    if let Some(batch) = read(sample_batches::parse_create, input) {
        assert!((1..=MAX_SAMPLE_BATCH).contains(&batch.size));
        is_read_again(sample_batches::parse_create, &batch);
    }
    let search = |body: &[u8], faults: &mut Faults| treesearch::parse(body, MAX_SECONDS, faults);
    if let Some(wanted) = read(search, input) {
        assert!(wanted.max_seconds > 0.0 && wanted.max_seconds <= MAX_SECONDS);
        assert!((1..=50).contains(&wanted.max_depth) && wanted.max_backbone_groups > 0);
        is_read_again(search, &wanted);
    }
    if let Some(plan) = read(|body, faults| plans::parse_create(body, MAX_SECONDS, faults), input) {
        assert!(!plan.request.search_smiles.is_empty() && plan.request.max_seconds <= MAX_SECONDS);
    }
    if let Some(batch) = read(|body, faults| batches::parse_create(body, MAX_SECONDS, faults), input) {
        assert!((1..=MAX_BATCH).contains(&batch.targets.len()) && batch.targets[0].same_as.is_none());
    }
    let keep = |body: &[u8], faults: &mut Faults| kept_routes::parse_create(body, MAX_SECONDS, faults);
    if let Some(kept) = read(keep, input) {
        assert!((1..=MAX_KEPT_NODES).contains(&kept.route.nodes.len()));
        is_read_again(keep, &kept);
    }
    if let Some(change) = read(kept_routes::parse_update, input) {
        is_read_again(kept_routes::parse_update, &change);
    }
    let looks = [
        bulk_queries::parse_expansions,
        bulk_queries::parse_building_blocks,
        bulk_queries::parse_synthesizability,
        bulk_queries::parse_analogues,
    ];
    for parse in looks {
        if let Some(look) = read(parse, input) {
            assert!((1..=MAX_BULK_QUERY).contains(&look.smiles.len()));
        }
    }
    if let Some(asked) = read(likelihoods::parse, input) {
        assert!((1..=MAX_LIKELIHOODS).contains(&asked.smiles.len()));
    }
    if let Some(search) = read(bulk_queries::parse_search, input) {
        assert!(search.smiles.is_empty());
    }
    let Ok(uri) = format!("/?{}", String::from_utf8_lossy(input)).parse() else { return };
    let list = |_: &[u8], faults: &mut Faults| paging::parse(query_pairs(&uri), samples::STYLE, faults);
    if let Some((limit, next, prev)) = read(list, input) {
        assert!((1..=100).contains(&limit));
        assert!(next.iter().chain(&prev).all(|id| is_word(id) && id.len() <= 255));
    }
}

fn read<T>(parse: impl Fn(&[u8], &mut Faults) -> Option<T>, input: &[u8]) -> Option<T> {
    let mut faults = Faults::default();
    let value = parse(input, &mut faults);
    match faults.settle(value) {
        Ok(value) => Some(value),
        Err(ApiError::Invalid(faults)) => {
            assert!((1..=100).contains(&faults.len()));
            None
        }
        Err(other) => panic!("a body is refused as invalid, not as {other:?}"),
    }
}

fn is_read_again<T: Serialize + PartialEq + Debug>(
    parse: impl Fn(&[u8], &mut Faults) -> Option<T>,
    value: &T,
) {
    let written = serde_json::to_vec(value).expect("a request can be written");
    assert_eq!(read(parse, &written).as_ref(), Some(value));
}

#[cfg(test)]
mod tests {
    use test_support::replay;

    use super::*;

    #[test]
    fn any_body_and_query_is_what_the_contract_says_or_refused() {
        replay("bodies", 10_000, bodies);
    }
}
