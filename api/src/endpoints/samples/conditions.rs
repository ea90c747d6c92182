//! Conditions of a sample request, parsed once, here, into values that cannot be invalid.
//!
//! The worker parses the same texts with the same functions of `chem`, so it has nothing to refuse. A request that no
//! molecule can satisfy is refused here if that is plain to see; for any other, the deadline tells.

use std::{collections::BTreeMap, sync::Arc};

use axum::response::Response;
use chem::{AlertSet, Limits, Part, PartError, Property};
use contract::{
    Country, DEFAULT_MAKEABLE_SECONDS, ErrorItem, MAKEABLE_SECONDS, MAX_EXCLUDED, MAX_EXCLUDED_MOLECULES,
    MAX_LEAD_TIME_DAYS, MAX_LINKED_FRAGMENTS, MAX_ROUTE_STEPS, MAX_SEED, MAX_SIMILAR_TO, MAX_SUBSTRUCTURES,
    PropertyRange, QuotaKind, RouteLimits, SampleConditions, TEMPERATURES,
};
use http_errors::ApiError;
use sqlx::PgPool;

use super::table::SampleRow;
use crate::{
    access::Caller,
    endpoints::{
        MAX_ID,
        metered_search::whole_seconds,
        ownership::{Detail, OwnedRow},
        sample_batches::table::SampleBatchRow,
        treesearch::{
            MAX_TARGET,
            constraints::{molecule, pattern},
            not_smiles,
        },
    },
    fields::{
        FieldFault, Fields, InputValue, between, choice, integer, not_among, nullable, number, positive,
        text, word,
    },
    jobs::Jobs,
    limits::{RateLimits, Reservation},
};

/// Parses the conditions among the members of `body`.
pub(super) fn read(body: &mut Fields<'_, '_>) -> Option<SampleConditions> {
    let scaffold_smiles = body.optional("scaffold", None, nullable(scaffold));
    let fragments = body.list("fragments", MAX_LINKED_FRAGMENTS, fragment);
    let substructures_required = body.list("substructures_required", MAX_SUBSTRUCTURES, pattern);
    let substructures_never = body.list("substructures_never", MAX_SUBSTRUCTURES, pattern);
    let similar_to = body.list("similar_to", MAX_SIMILAR_TO, molecule);
    let similarity_gte = body.optional("similarity_gte", None, nullable(between(0.0, 1.0)));
    let similarity_lt = body.optional("similarity_lt", None, nullable(between(0.0, 1.0)));
    let properties = body.optional_object("properties", properties);
    let alerts = body.list("alerts", AlertSet::ALL.len(), choice(&AlertSet::ALL, AlertSet::name));
    let (coldest, hottest) = TEMPERATURES;
    let temperature = body.optional("temperature", None, nullable(between(coldest, hottest)));
    let top_p = body.optional("top_p", None, nullable(positive(1.0)));
    let most = i64::try_from(MAX_SEED).unwrap_or(i64::MAX);
    let seed = body.optional("seed", None, nullable(integer(0, Some(most))));
    let exclude = body.list("exclude", MAX_EXCLUDED, word(1, Some(MAX_ID)));
    let synthesizable = body.optional_object("synthesizable", route_limits);
    let conditions = SampleConditions {
        scaffold: scaffold_smiles?,
        fragments: fragments?.unwrap_or_default(),
        substructures_required: substructures_required?.unwrap_or_default(),
        substructures_never: substructures_never?.unwrap_or_default(),
        similar_to: similar_to?.unwrap_or_default(),
        similarity_gte: similarity_gte?,
        similarity_lt: similarity_lt?,
        properties: properties?.unwrap_or_default(),
        alerts: alerts?.unwrap_or_default().into_iter().map(|set| set.name().to_owned()).collect(),
        temperature: temperature?,
        top_p: top_p?,
        seed: seed?.map(i64::unsigned_abs),
        exclude: exclude?.unwrap_or_default(),
        synthesizable: synthesizable?,
    };
    check_together(body, &conditions).then_some(conditions)
}

/// Parses the ranges of properties, by name.
fn properties(mut ranges: Fields<'_, '_>) -> Option<BTreeMap<String, PropertyRange>> {
    let mut read = Some(BTreeMap::new());
    for property in Property::ALL {
        match ranges.optional_object(property.name(), range) {
            Some(Some(range)) => {
                read.as_mut().map(|read| read.insert(property.name().to_owned(), range));
            }
            Some(None) => {}
            None => read = None,
        }
    }
    ranges.finish_with(|| not_among(Property::ALL.into_iter().map(Property::name)));
    read
}

/// Parses a range of a property, which has one end or both.
fn range(mut ends: Fields<'_, '_>) -> Option<PropertyRange> {
    let gte = ends.optional("gte", None, nullable(number));
    let lte = ends.optional("lte", None, nullable(number));
    let range = gte.zip(lte).map(|(gte, lte)| PropertyRange { gte, lte });
    match range {
        Some(PropertyRange { gte: None, lte: None }) => {
            ends.fault_of_all(FieldFault::new("missing", "One of 'gte' and 'lte' should be given"));
        }
        Some(PropertyRange { gte: Some(least), lte: Some(most) }) if least > most => {
            ends.fault("gte", contradictory("Input should be at most 'lte'"));
        }
        _ => {}
    }
    ends.finish();
    range
}

/// Parses the limits on routes.
fn route_limits(mut limits: Fields<'_, '_>) -> Option<RouteLimits> {
    let steps = integer(1, Some(i64::from(MAX_ROUTE_STEPS)));
    let max_steps = limits.optional("max_steps", None, nullable(steps));
    let max_usd_per_mol = limits.optional("max_usd_per_mol", None, nullable(positive(f64::MAX)));
    let country = nullable(choice(&Country::ALL, Country::code));
    let ships_to = limits.optional("ships_to", Some(Country::Us), country);
    let days = nullable(between(0.0, MAX_LEAD_TIME_DAYS));
    let max_lead_time_days = limits.optional("max_lead_time_days", None, days);
    let (least, most) = MAKEABLE_SECONDS;
    let max_seconds_each =
        limits.optional("max_seconds_each", DEFAULT_MAKEABLE_SECONDS, between(least, most));
    limits.finish();
    Some(RouteLimits {
        max_steps: max_steps?.and_then(|steps| u32::try_from(steps).ok()),
        max_usd_per_mol: max_usd_per_mol?,
        ships_to: ships_to?,
        max_lead_time_days: max_lead_time_days?,
        max_seconds_each: max_seconds_each?,
    })
}

/// Records the faults of conditions that do not fit each other; returns true if there are none.
fn check_together(body: &mut Fields<'_, '_>, conditions: &SampleConditions) -> bool {
    let mut fits = true;
    let mut fault = |name: &str, fault: FieldFault| {
        fits = false;
        body.fault(name, fault);
    };
    let SampleConditions { similarity_gte, similarity_lt, .. } = *conditions;
    let bounds = [("similarity_gte", similarity_gte), ("similarity_lt", similarity_lt)];
    if conditions.similar_to.is_empty() {
        for (name, _) in bounds.into_iter().filter(|(_, bound)| bound.is_some()) {
            fault(name, FieldFault::new("missing", "'similar_to' should be given with a similarity"));
        }
    } else if bounds.iter().all(|(_, bound)| bound.is_none()) {
        let msg = "One of 'similarity_gte' and 'similarity_lt' should be given with 'similar_to'";
        fault("similar_to", FieldFault::new("missing", msg));
    }
    if let (Some(least), Some(end)) = (similarity_gte, similarity_lt)
        && least >= end
    {
        fault("similarity_gte", contradictory("Input should be less than 'similarity_lt'"));
    }
    for (at, smarts) in conditions.substructures_required.iter().enumerate() {
        if conditions.substructures_never.contains(smarts) {
            let msg = "The substructure is also among those of 'substructures_never'";
            fault("substructures_required", contradictory(msg).within(at));
        }
    }
    match conditions.fragments.len() {
        1 => fault("fragments", FieldFault::new("too_short", "Two or more fragments should be given")),
        2.. if conditions.scaffold.is_some() => {
            fault("fragments", contradictory("Only one of 'scaffold' and 'fragments' should be given"));
        }
        _ => {}
    }
    fits
}

fn contradictory(msg: &str) -> FieldFault {
    FieldFault::new("contradictory", msg)
}

/// Parses a SMILES with one or more attachment points.
fn scaffold(input: &InputValue<'_>) -> Result<String, FieldFault> {
    part(input).map(|(smiles, _)| smiles)
}

/// Parses a SMILES with one attachment point.
fn fragment(input: &InputValue<'_>) -> Result<String, FieldFault> {
    match part(input)? {
        (smiles, 1) => Ok(smiles),
        (_, points) => {
            let msg = format!("Input should have one attachment point, not {points}");
            Err(FieldFault::new("attachment_points", msg))
        }
    }
}

/// Parses a SMILES with attachment points; returns it with their number.
fn part(input: &InputValue<'_>) -> Result<(String, usize), FieldFault> {
    let smiles = text(1, Some(MAX_TARGET))(input)?;
    match Part::parse(&smiles, Limits::TARGET) {
        Ok(part) => Ok((smiles, part.points())),
        Err(error @ PartError::NoPoint) => {
            Err(FieldFault::new("attachment_points", format!("Input should be a part of molecules: {error}")))
        }
        Err(error) => Err(not_smiles(&error)),
    }
}

/// Reserves search seconds for the routes of a request's molecules: as much as a bulk query of synthesizability of
/// so many molecules costs at most. Returns the 429 answer if too little is left.
pub async fn reserve_searches(
    limits: &Arc<RateLimits>,
    jobs: &Jobs,
    caller: &Caller,
    (conditions, size): (&SampleConditions, u32),
) -> Result<Option<Reservation>, Response> {
    let Some(route_limits) = &conditions.synthesizable else { return Ok(None) };
    let most = (route_limits.max_seconds_each * f64::from(size)).min(jobs.longest_search());
    let (account_id, quotas) = (&caller.account_id, &caller.quotas);
    limits.reserve(QuotaKind::SearchSeconds, account_id, quotas, whole_seconds(most)).await.map(Some)
}

/// Checks the excluded samples and sample batches.
///
/// # Errors
/// Fails if the caller cannot see one of them, or if they have too many molecules.
pub async fn check_excluded(
    pool: &PgPool,
    caller: &Caller,
    conditions: &SampleConditions,
) -> Result<(), ApiError> {
    let excluded = &conditions.exclude;
    if excluded.is_empty() {
        return Ok(());
    }
    let reader = &caller.account_id;
    let samples = SampleRow::read(pool, reader, excluded, Detail::Listed).await?;
    let batches = SampleBatchRow::read(pool, reader, excluded, Detail::Listed).await?;
    let sizes = samples
        .iter()
        .map(|row| (&row.id, row.num_smiles))
        .chain(batches.iter().map(|row| (&row.id, row.size)))
        .collect::<BTreeMap<_, _>>();
    if !excluded.iter().all(|id| sizes.contains_key(id)) {
        return Err(ApiError::BadReference);
    }
    let molecules: u64 = sizes.into_values().map(|size| u64::from(size.unsigned_abs())).sum();
    if molecules > MAX_EXCLUDED_MOLECULES {
        return Err(ApiError::Invalid(vec![ErrorItem {
            loc: vec!["body".into(), "exclude".into()],
            msg: format!(
                "The samples have {molecules} molecules, and at most {MAX_EXCLUDED_MOLECULES} can be excluded"
            ),
            kind: "too_long".to_owned(),
        }]));
    }
    Ok(())
}
