//! Ids with two structures among the files of a dry run, which has no database to compare them.
//!
//! Each entry goes to one of several temporary files by its vendor and id, so that the entries of one fit into memory
//! however many rows an import has.

use std::{
    collections::{BTreeSet, HashMap},
    fs::File,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _},
};

use ::catalogue::Entry;
use catalogue_tables::structure_changes::StructureChange;

/// Number of temporary files: of 20 million entries, each has 300,000.
const PARTS: usize = 64;
/// Largest number of earlier structures of one id that are reported.
const MAX_STRUCTURES: usize = 1_000;

/// Structures of the entries read so far.
pub(super) struct EntryStructures {
    parts: Vec<BufWriter<File>>,
}

impl EntryStructures {
    /// Creates the temporary files, which no folder shows.
    pub(super) fn new() -> io::Result<Self> {
        let parts = (0..PARTS).map(|_| Ok(BufWriter::new(tempfile::tempfile()?)));
        Ok(Self { parts: parts.collect::<io::Result<_>>()? })
    }

    /// Notes an entry. One without an id is known by its structure, so that it has only one.
    pub(super) fn note(&mut self, entry: &Entry) -> io::Result<()> {
        let Some(id) = &entry.cs_id else { return Ok(()) };
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((&entry.vendor_name, id));
        let part = usize::try_from(hash % PARTS as u64).expect("entry_structures: a small number");
        let file = &mut self.parts[part];
        serde_json::to_writer(&mut *file, &(&entry.vendor_name, id, &entry.structure.smiles))?;
        file.write_all(b"\n")
    }

    /// Returns the ids with several structures: each earlier one, and the last, which counts.
    pub(super) fn changes(self) -> io::Result<Vec<StructureChange>> {
        let mut changes = Vec::new();
        for part in self.parts {
            let mut file = part.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            changes.extend(changes_of(BufReader::new(file))?);
        }
        changes.sort();
        Ok(changes)
    }
}

/// Structures of one entry in the order of its rows; the last row counts.
#[derive(Default)]
struct Structures {
    before: BTreeSet<String>,
    last: String,
}

fn changes_of(file: BufReader<File>) -> io::Result<Vec<StructureChange>> {
    let mut entries: HashMap<(String, String), Structures> = HashMap::new();
    for line in file.lines() {
        let (vendor, id, smiles): (String, String, String) = serde_json::from_str(&line?)?;
        let entry = entries.entry((vendor, id)).or_default();
        if entry.last != smiles {
            entry.before.remove(&smiles);
            let earlier = std::mem::replace(&mut entry.last, smiles);
            let is_kept = !earlier.is_empty() && entry.before.len() < MAX_STRUCTURES;
            entry.before.extend(Some(earlier).filter(|_| is_kept));
        }
    }
    let mut changes = Vec::new();
    for ((vendor_name, cs_id), Structures { before, last }) in entries {
        changes.extend(before.into_iter().map(|before| StructureChange {
            vendor_name: vendor_name.clone(),
            cs_id: cs_id.clone(),
            before,
            after: last.clone(),
        }));
    }
    Ok(changes)
}
