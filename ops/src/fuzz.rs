//! Invariants of reading untrusted files, one function per format. They serve the fuzz targets in `ops/fuzz`, and the
//! tests here, which use the same seeds.

use std::{io, num::NonZeroUsize, sync::Arc};

use ::catalogue::{
    inchi_key,
    read::{self, ColumnProfile, EntryBatch, KnownKeys, Options, ReadInput},
};
use catalogue_tables::load::push_row;
use chem::Molecule;
use contract::{Country, Sample, TreeSearchRequest, TreeSearchResult};

use crate::{
    formats::{RouteFormat, RouteOutput, TargetCount},
    planned::PlannedTarget,
    route_tree, sample_file,
    targets::{Files, ParsedTargets, check},
};

/// Number of columns of the temporary table that an import copies to.
const COPIED_COLUMNS: usize = 29;

/// Reads a vendor's file in any format, compressed or not; every offer must become one line of the copy to the
/// database.
pub fn catalogue(input: &[u8]) {
    // An error is an acceptable result.
    let _ = opened(input).map(|opened| opened.read_here(is_copied));
}

/// Opens the file, if its format is recognised.
fn opened(input: &[u8]) -> Option<read::OpenedFile> {
    let options = Options {
        vendor: Some("House".into()),
        profile: ColumnProfile::default(),
        rates: "EUR = 1.08".parse().expect("fuzz: a rate"),
        keys: Arc::new(KnownKeys::default()),
        threads: NonZeroUsize::MIN,
    };
    // The Parquet crate panics at damaged tables. The reader survives that; libFuzzer does not.
    if cfg!(fuzzing) && input.starts_with(b"PAR1") {
        return None;
    }
    read::open(&ReadInput::Bytes("input".into(), input.to_vec()), &options).ok()
}

fn is_copied(batch: EntryBatch) {
    assert!(batch.entries.iter().map(|entry| entry.position).is_sorted(), "{:?}", batch.entries);
    for entry in batch.entries {
        let mut copied = String::new();
        push_row(&mut copied, 1, &entry);
        assert!(copied.ends_with('\n') && copied.lines().count() == 1, "{copied:?}");
        assert_eq!(copied.matches('\t').count() + 1, COPIED_COLUMNS, "{copied:?}");
        assert!(entry.normalised_usd.is_none_or(|usd| usd.is_finite() && usd >= 0.0), "{entry:?}");
    }
}

/// Gives a molecule to the InChI library; its key must have the form of one.
pub fn inchi(input: &[u8]) {
    let Some(molecule) = str::from_utf8(input).ok().and_then(|smiles| smiles.parse::<Molecule>().ok()) else {
        return;
    };
    if let Some(key) = inchi_key(molecule.as_canonical()) {
        let parts: Vec<usize> = key.split('-').map(str::len).collect();
        assert_eq!(parts, [14, 10, 1], "{key}");
    }
}

/// Reads a file of targets in any format, compressed or not; every returned target must be valid.
pub fn targets(input: &[u8]) {
    let mut found = ParsedTargets::default();
    let _ = Files::default().read_one(&ReadInput::Bytes("fuzz".into(), input.to_vec()), &mut found);
    for target in found.targets {
        assert_eq!(check(&target.smiles), Ok(()));
        assert!(target.name.is_none_or(|name| !name.trim().is_empty()));
    }
}

/// Reads a service's answer and formats it for people.
pub fn answer(input: &[u8]) {
    if let Ok(sample) = serde_json::from_slice::<Sample>(input) {
        assert!(
            sample_file::json(&sample).is_ok()
                && sample_file::lines(&sample).lines().count() >= sample.smiles.len()
        );
    }
    if let Ok(result) = serde_json::from_slice::<TreeSearchResult>(input) {
        let _ = route_tree::render(&result, Some(Country::De));
        let _ = route_tree::no_route_reason(&result);
        let request = TreeSearchRequest::new(&result.search_smiles);
        let planned = PlannedTarget { name: None, asked: request, outcome: Ok(result) };
        for format in [RouteFormat::Json, RouteFormat::Csv, RouteFormat::Aizynth] {
            let mut output = RouteOutput::new(format, TargetCount::Several, Box::new(io::sink()));
            assert!(output.add(planned.clone()).and_then(|()| output.finish()).is_ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use test_support::replay;

    use super::*;

    #[test]
    fn any_file_of_a_vendor_is_read_row_by_row() {
        replay("catalogue", 4_000, catalogue);
    }

    #[test]
    fn by_threads_it_is_read_as_on_one() {
        replay("catalogue", 500, |input| {
            let Some((here, elsewhere)) = opened(input).zip(opened(input)) else { return };
            let (mut one, mut other) = (0, 0);
            let ended = here.read_here(|batch| one += batch.entries.len());
            let outcomes: Vec<_> = elsewhere.read().collect();
            let failed = outcomes.iter().any(Result::is_err);
            outcomes.into_iter().flatten().for_each(|batch| {
                other += batch.entries.len();
                is_copied(batch);
            });
            assert_eq!((one, ended.is_err()), (other, failed));
        });
    }

    #[test]
    fn any_file_of_targets_is_read_row_by_row() {
        replay("targets", 4_000, targets);
    }

    #[test]
    fn any_molecule_has_a_key_or_none() {
        replay("inchi", 2_000, inchi);
    }

    #[test]
    fn any_answer_is_shown() {
        replay("answer", 5_000, answer);
    }
}
