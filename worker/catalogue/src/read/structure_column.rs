//! The column of structures in a file whose header does not tell it, or that has no header.

use std::borrow::Cow;

use chem::{Limits, Molecule};

use super::{file_format::FileFormat, inchikey, meaning::Meaning, text::decode};

/// Letters of a structure that no flag has: `N` and `no` are molecules too.
const LEAST_LETTERS: usize = 3;

/// Columns that are searched.
const MAX_COLUMNS: usize = 64;

/// Column of structures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StructureColumn {
    /// Index of the column.
    pub(crate) at: usize,
    /// Meaning of the column: SMILES or InChIKey.
    pub(crate) meaning: Meaning,
    /// True if the first record has a structure there, so that it is no header.
    pub(crate) is_in_first: bool,
}

/// Finds the first of the columns that hold structures in most records, not counting a first record that may be a
/// header. The column at `stated` counts in any case. The first column also counts if only the first record has a
/// structure there.
pub(crate) fn find(
    records: &[Vec<u8>],
    format: FileFormat,
    stated: Option<usize>,
) -> Option<StructureColumn> {
    let rows: Vec<Vec<String>> = records.iter().map(|record| fields(format, record)).collect();
    let first = rows.first()?;
    let below = if rows.len() > 1 { &rows[1..] } else { &rows[..] };
    let count = |at: usize, meaning: &Meaning| {
        let fields = below.iter().filter_map(|row| row.get(at));
        fields.filter(|field| field.len() >= LEAST_LETTERS && is_structure(field, meaning)).count()
    };
    let candidates =
        (0..first.len().min(MAX_COLUMNS)).flat_map(|at| [(at, Meaning::Smiles), (at, Meaning::InchiKey)]);
    let counted = candidates.map(|(at, meaning)| (count(at, &meaning), at, meaning));
    // Of equal counts the last one wins; the first column comes last.
    let most = counted.rev().max_by_key(|(count, ..)| *count).filter(|(count, ..)| 2 * count > below.len());
    let found = match (stated, most) {
        (Some(at), _) => {
            let is_key = first.get(at).is_some_and(|field| inchikey::is_key(field));
            (at, if is_key { Meaning::InchiKey } else { Meaning::Smiles })
        }
        (None, Some((_, at, meaning))) => (at, meaning),
        (None, None) => {
            let kinds = [Meaning::Smiles, Meaning::InchiKey];
            (0, kinds.into_iter().find(|meaning| is_structure(&first[0], meaning))?)
        }
    };
    let (at, meaning) = found;
    // A broken structure in the first record must be reported, and not pass for a header.
    let is_in_first =
        first.get(at).is_some_and(|field| is_structure(field, &meaning) || is_in_letters(field));
    Some(StructureColumn { at, meaning, is_in_first })
}

/// Returns true if a field is a structure.
pub(crate) fn is_smiles(field: &str) -> bool {
    let smiles = field.split(" |").next().unwrap_or_default();
    !smiles.is_empty() && Molecule::parse(smiles, Limits::DEFAULT).is_ok()
}

/// Returns true if a field has only characters of SMILES of usual elements: `C1CC`, but not `Structure`.
fn is_in_letters(field: &str) -> bool {
    const LETTERS: &str = "BCNOPSFIHbcnopslr0123456789()[]=#@+-/\\.%:*";
    !field.is_empty() && field.chars().all(|letter| LETTERS.contains(letter))
}

fn is_structure(field: &str, meaning: &Meaning) -> bool {
    match meaning {
        Meaning::InchiKey => inchikey::is_key(field),
        _ => is_smiles(field),
    }
}

fn fields(format: FileFormat, record: &[u8]) -> Vec<String> {
    let text = |field: Cow<'_, [u8]>| decode(field).trim().to_owned();
    format.fields(record).into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_is_found_by_its_content() {
        let column = |lines: &[&str], stated| {
            let records: Vec<Vec<u8>> = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
            let found = find(&records, FileFormat::Delimited(b','), stated);
            found.map(|found| (found.at, found.meaning.to_string(), found.is_in_first))
        };
        let some = |at, meaning: &str, is_in_first| Some((at, meaning.to_owned(), is_in_first));

        assert_eq!(column(&["A-1,CCO", "A-2,CCN"], None), some(1, "smiles", true));
        assert_eq!(
            column(&["Nr,Formel", "A-2,CCN", "A-3,broken", "A-4,CCC"], None),
            some(1, "smiles", false)
        );
        assert_eq!(column(&["CN,CCO", "x,CCN", "y,CCC"], None), some(1, "smiles", true));
        assert_eq!(column(&["A,C1CC", "x,CCN", "y,CCC"], None), some(1, "smiles", true));
        assert_eq!(column(&["CCO,CCN", "CCC,CCN"], None), some(0, "smiles", true));
        assert_eq!(column(&["C", "N", "O"], None), some(0, "smiles", true));
        assert_eq!(column(&["A,LFQSCWFLJHTTHZ-UHFFFAOYSA-N"], None), some(1, "inchikey", true));
        assert_eq!(column(&["name,hazard", "ethanol,N", "water,N"], None), None);
        assert_eq!(column(&["CCO,CCN", "CCC,CCN"], Some(1)), some(1, "smiles", true));
        assert_eq!(column(&["Nr,Struktur", "1,CCN"], Some(1)), some(1, "smiles", false));
    }
}
