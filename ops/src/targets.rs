//! Targets from files: SMILES with names, tables, SDF and the other formats of vendors' files, compressed or not.
//!
//! An invalid row is reported with its position, and only that row is left out. The check is the service's own, so
//! that a batch is not refused for an error that could be found here.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use catalogue::{
    Rates,
    read::{
        self, ColumnProfile, FileDescription, FileFormat, FileReadError, HeaderError, Meaning, Options,
        ReadInput, Record,
    },
};
use chem::{Limits, MappedMolecule, has_unknown_configuration, read_molfile};
use clap::Args;

use crate::{failure::Failure, terminal};

/// Maximum length of a target's SMILES, in characters.
const MAX_SMILES_LENGTH: usize = 1000;

/// Default name columns, compared without regard to case.
const NAME_COLUMNS: [&str; 8] =
    ["name", "title", "id", "compound", "compound_id", "compound_name", "molecule_name", "identifier"];

/// Files of targets.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Files of targets")]
pub struct Files {
    /// Read targets from FILE, or from standard input if it is `-`: SMILES with names, CSV, TSV, SDF, JSON lines or
    /// Parquet, also compressed with gzip, zstd or bzip2. The format is detected from the contents.
    #[arg(long, short, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Column with the SMILES, by name or by number from 1 [default: `smiles`, the usual names in vendors' files, or
    /// the first column that has SMILES in most rows].
    #[arg(long, value_name = "COLUMN", requires = "input")]
    smiles_column: Option<String>,
    /// Column with the names, by name or by number from 1 [default: `name`, `id` or `title`, the text after the SMILES, or the title in an SDF].
    #[arg(long, value_name = "COLUMN", requires = "input")]
    name_column: Option<String>,
}

/// A molecule to plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// SMILES as the user wrote it.
    pub smiles: String,
    /// Name in the file.
    pub name: Option<String>,
}

/// Contents of the files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ParsedTargets {
    /// Targets in the order of the files.
    pub targets: Vec<Target>,
    /// Invalid rows, each with its file, position and reason.
    pub faults: Vec<String>,
    /// Targets that are planned as another molecule than is written, each with its file and position.
    pub notes: Vec<String>,
}

impl Files {
    /// Returns true if there are any files.
    pub fn are_given(&self) -> bool {
        !self.input.is_empty()
    }

    /// Reads all files.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or has no structures.
    pub fn read(&self) -> Result<ParsedTargets, Failure> {
        let mut found = ParsedTargets::default();
        for path in &self.input {
            self.read_one(&input(path)?, &mut found)?;
        }
        Ok(found)
    }

    /// Reads one more file.
    ///
    /// # Errors
    /// Fails as [`Files::read`] does.
    pub fn read_one(&self, input: &ReadInput, found: &mut ParsedTargets) -> Result<(), Failure> {
        let opened = read::open(input, &self.options()).map_err(failure)?;
        let reader = TargetReader::new(&opened.outline, self.name_column.clone())
            .ok_or_else(|| Failure::Usage(format!("{} has InChIKeys but no structures", input.name())))?;
        let counted = if opened.outline.format.has_lines() { "line" } else { "row" };
        for record in opened.records().map_err(failure)? {
            let Record { position, fields } = record.map_err(failure)?;
            match fields.map_err(|fault| fault.to_string()).and_then(|fields| reader.target(&fields)) {
                Ok((target, has_unknown_configuration)) => {
                    let note = planned_as(&target.smiles, has_unknown_configuration);
                    let place = format!("{}, {counted} {}", input.name(), position.number);
                    found.notes.extend(note.map(|note| format!("{place}: {note}")));
                    found.targets.push(target);
                }
                Err(reason) => {
                    found.faults.push(format!("{}, {counted} {}: {reason}", input.name(), position.number))
                }
            }
        }
        Ok(())
    }

    fn options(&self) -> Options {
        let smiles = self.smiles_column.iter().map(|column| (column.clone(), "smiles".to_owned()));
        let columns: BTreeMap<String, String> = smiles.collect();
        Options {
            vendor: None,
            profile: ColumnProfile { columns, ..ColumnProfile::default() },
            rates: Rates::default(),
            keys: Arc::default(),
            threads: NonZeroUsize::MIN,
        }
    }
}

/// Checks that the service would accept the target.
///
/// # Errors
/// Fails with the reason why it would not.
pub fn check(smiles: &str) -> Result<(), String> {
    if smiles.chars().count() > MAX_SMILES_LENGTH {
        return Err(format!("longer than {MAX_SMILES_LENGTH} characters"));
    }
    MappedMolecule::of_one(smiles, Limits::TARGET).map(drop).map_err(|reason| format!("no target: {reason}"))
}

/// Returns a note about a target that is planned as another molecule than is written.
pub fn note(smiles: &str) -> Option<String> {
    planned_as(smiles, has_unknown_configuration(smiles))
}

fn planned_as(smiles: &str, has_unknown_configuration: bool) -> Option<String> {
    let reason = if has_unknown_configuration {
        "a racemate or an unknown enantiomer is planned without its configuration"
    } else if smiles.split_whitespace().next().is_some_and(|smiles| smiles.contains('.')) {
        "a salt or a solvate is planned as its parent"
    } else {
        return None;
    };
    let planned = MappedMolecule::of_one(smiles, Limits::TARGET).ok()?;
    Some(format!("{reason}, `{}`", planned.molecule().as_canonical()))
}

fn input(path: &Path) -> Result<ReadInput, Failure> {
    if path != Path::new("-") {
        return Ok(ReadInput::File(path.to_owned()));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("reading standard input")?;
    Ok(ReadInput::Bytes("standard input".to_owned(), bytes))
}

fn failure(error: FileReadError) -> Failure {
    match error {
        FileReadError::Header { name, source: HeaderError::NoSmiles { found } } => Failure::Usage(format!(
            "{name} has no column `smiles` ({found}): name the one that holds them with --smiles-column"
        )),
        error @ (FileReadError::Header { .. } | FileReadError::Profile(_)) => {
            Failure::Usage(error.to_string())
        }
        error => Failure::Other(anyhow::Error::new(error)),
    }
}

impl ParsedTargets {
    /// Prints the first faults and notes, and the numbers of the others.
    pub fn print_notes(&self) {
        print_first("left out", &self.faults);
        print_first("note", &self.notes);
    }
}

fn print_first(kind: &str, lines: &[String]) {
    const MAX_PRINTED: usize = 20;
    lines.iter().take(MAX_PRINTED).for_each(|line| terminal::note(&format!("{kind}: {line}")));
    if lines.len() > MAX_PRINTED {
        terminal::note(&format!("{kind}: {} more", lines.len() - MAX_PRINTED));
    }
}

/// Converter of a file's records to targets.
struct TargetReader {
    /// Structure columns, in order of precedence.
    structures: Vec<String>,
    format: FileFormat,
    name: Option<String>,
}

impl TargetReader {
    /// Chooses the columns; `None` for a file without structures.
    fn new(outline: &FileDescription, name: Option<String>) -> Option<Self> {
        let holds = |is_wanted: fn(&Meaning) -> bool| {
            outline
                .columns
                .iter()
                .filter(move |column| is_wanted(&column.meaning))
                .map(|column| column.name.clone())
        };
        let smiles = holds(|meaning| matches!(meaning, Meaning::Smiles));
        let molfiles = holds(|meaning| matches!(meaning, Meaning::Molfile));
        let structures: Vec<String> = smiles.chain(molfiles).collect();
        let by_id = || holds(|meaning| matches!(meaning, Meaning::Id)).next();
        let by_name = || {
            let mut names = NAME_COLUMNS.iter();
            names
                .find_map(|name| outline.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)))
        };
        let named = name.map(|name| column_named(outline, name));
        let is_list = matches!(outline.format, FileFormat::List(_));
        let usual = || by_name().map(|column| column.name.clone()).or_else(by_id).filter(|_| !is_list);
        let name = named.or_else(usual);
        (!structures.is_empty()).then_some(Self { structures, format: outline.format, name })
    }

    /// Returns the target of a record, and true if it is a racemate or an unknown enantiomer.
    fn target(&self, fields: &[(String, String)]) -> Result<(Target, bool), String> {
        let field = |is_wanted: &str| {
            let found =
                fields.iter().find(|(name, _)| name.trim() == is_wanted).map(|(_, text)| text.as_str());
            found.filter(|text| !text.trim().is_empty())
        };
        let structure = self.structures.iter().find_map(|column| field(column)).ok_or("no SMILES")?;
        let (smiles, is_unknown) = if structure.contains("M  END") {
            let table = read_molfile(structure).map_err(|error| format!("structure: {error}"))?;
            (table.smiles, table.has_unknown_configuration)
        } else {
            (structure.trim().to_owned(), has_unknown_configuration(structure))
        };
        check(&smiles)?;
        let name = match self.format {
            FileFormat::List(delimiter) if self.name.is_none() => {
                let others = fields.iter().filter(|(name, _)| !self.structures.contains(name));
                let others: Vec<&str> = others.map(|(_, text)| text.as_str()).collect();
                if let Some(second) = others.iter().find(|text| delimiter == b'|' && is_smiles(text)) {
                    return Err(format!(
                        "two structures in one line, `{smiles}|{second}`: a target is one molecule"
                    ));
                }
                others.join(" ")
            }
            _ => {
                let column = self.name.as_deref().and_then(field);
                column.or_else(|| title(structure)).unwrap_or_default().to_owned()
            }
        };
        let name = name.trim();
        Ok((Target { smiles, name: (!name.is_empty()).then(|| name.to_owned()) }, is_unknown))
    }
}

/// Name of a column that may be stated by its number, from 1.
fn column_named(outline: &FileDescription, name: String) -> String {
    let columns = &outline.columns;
    if columns.iter().any(|column| column.name == name) {
        return name;
    }
    let at = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    at.and_then(|at| columns.get(at)).map_or(name, |column| column.name.clone())
}

/// Returns true if a text is a molecule.
fn is_smiles(text: &str) -> bool {
    MappedMolecule::of_one(text, Limits::TARGET).is_ok()
}

/// Returns the first line of a connection table.
fn title(structure: &str) -> Option<&str> {
    structure.contains("M  END").then(|| structure.lines().next()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETHANOL: &str = "ethanol\n\n\n  3  2  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n    1.0000    0.0000    0.0000 C   0  0\n    2.0000    0.0000    0.0000 O   0  0\n  1  2  1  0\n  2  3  1  0\nM  END\n";

    fn read(files: &Files, name: &str, bytes: &[u8]) -> Result<ParsedTargets, Failure> {
        let mut found = ParsedTargets::default();
        files.read_one(&ReadInput::Bytes(name.to_owned(), bytes.to_vec()), &mut found)?;
        Ok(found)
    }

    fn target(smiles: &str, name: &str) -> Target {
        Target { smiles: smiles.to_owned(), name: (!name.is_empty()).then(|| name.to_owned()) }
    }

    fn targets(name: &str, text: &str) -> Vec<Target> {
        let found = read(&Files::default(), name, text.as_bytes()).unwrap();
        assert_eq!(found.faults, [] as [String; 0], "{name}");
        found.targets
    }

    #[test]
    fn every_kind_of_file_gives_its_targets_with_their_names() {
        let sdf = format!("{ETHANOL}> <ID>\nZ1\n\n$$$$\n");
        let untitled = format!("{}> <NOTE>\nx\n\n$$$$\n", ETHANOL.replacen("ethanol", "", 1));

        assert_eq!(targets("a.smi", "CCO\nCCN |r|\n"), [target("CCO", ""), target("CCN |r|", "")]);
        assert_eq!(
            targets("a.smi", "CCO ethyl alcohol\nCCN ethylamine 70%\nCC x\n"),
            [target("CCO", "ethyl alcohol"), target("CCN", "ethylamine 70%"), target("CC", "x")]
        );
        assert_eq!(targets("a.csv", "Name;SMILES\nA;CCO\n;CCN\n"), [target("CCO", "A"), target("CCN", "")]);
        assert_eq!(targets("a.tsv", "smiles\tprice\tid\nCCO\tcheap\tX-1\n"), [target("CCO", "X-1")]);
        assert_eq!(targets("a.jsonl", "{\"smiles\": \"CCO\", \"name\": \"A\"}\n"), [target("CCO", "A")]);
        assert_eq!(targets("a.sdf", &sdf), [target("CCO", "Z1")]);
        assert_eq!(targets("a.sdf", &sdf.replace("<ID>", "<OTHER>")), [target("CCO", "ethanol")]);
        assert_eq!(targets("a.sdf", &untitled), [target("CCO", "")]);
    }

    #[test]
    fn a_row_without_a_target_is_reported_and_the_rest_goes_on() {
        let text = "smiles,name\nCCO,A\nC1CC,B\nCC.CC,C\n,D\nCCN\nCCN,E\n";

        let found = read(&Files::default(), "a.csv", text.as_bytes()).unwrap();

        assert_eq!(found.targets, [target("CCO", "A"), target("CCN", "E")]);
        let places: Vec<&str> = found.faults.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
        assert_eq!(places, ["a.csv, line 3", "a.csv, line 4", "a.csv, line 5", "a.csv, line 6"]);
        assert!(
            found.faults[1].ends_with("no target: more than one component, the second begins after byte 2"),
            "{:?}",
            found.faults
        );
        assert!(found.faults[2].ends_with("no SMILES"), "{:?}", found.faults);
    }

    #[test]
    fn targets_that_are_planned_as_another_molecule_are_noted() {
        let text = "CCO E\nNCc1ccccc1.Cl.O A\nC[C@H](F)Cl |&1:1| B\nC[C@H](F)Cl |a:1| C\n\
                    C[C@H](F)Cl |(0,0.5;1,0;2,0;1,1)| D\n";

        let found = read(&Files::default(), "a.smi", text.as_bytes()).unwrap();

        assert_eq!((found.targets.len(), found.faults), (5, vec![]));
        assert_eq!(
            found.notes,
            [
                "a.smi, line 2: a salt or a solvate is planned as its parent, `NCc1ccccc1`",
                "a.smi, line 3: a racemate or an unknown enantiomer is planned without its configuration, `CC(F)Cl`",
            ]
        );
        assert_eq!(note("CCO"), None);
    }

    #[test]
    fn a_file_without_a_header_may_have_its_names_first() {
        let by_number = Files {
            smiles_column: Some("2".to_owned()),
            name_column: Some("1".to_owned()),
            ..Files::default()
        };
        let expected = [target("CCO", "A"), target("CCN", "B")];

        assert_eq!(targets("a.csv", "A,CCO\nB,CCN\n"), expected);
        assert_eq!(targets("a.smi", "A CCO\nB CCN\n"), expected);
        assert_eq!(targets("a.smi", "CCO A\rCCN B\r"), expected);
        assert_eq!(targets("a.csv", "Nr,Struktur,name\n7,CCO,A\n8,CCN,B\n"), expected);
        assert_eq!(read(&by_number, "a.csv", b"A,CCO,x\nB,CCN,y\n").unwrap().targets, expected);
        assert_eq!(read(&by_number, "a.csv", b"Nr,X\nA,CCO\nB,CCN\n").unwrap().targets, expected);
    }

    #[test]
    fn two_structures_in_a_line_are_reported() {
        let found = read(&Files::default(), "pairs.smi", b"CCO|CCN\nCCC|CCF\n").unwrap();

        assert_eq!(found.targets, []);
        assert_eq!(
            found.faults,
            [
                "pairs.smi, line 1: two structures in one line, `CCO|CCN`: a target is one molecule",
                "pairs.smi, line 2: two structures in one line, `CCC|CCF`: a target is one molecule",
            ]
        );
        assert_eq!(targets("a.txt", "CCO|A-1\nCCN|A-2\n"), [target("CCO", "A-1"), target("CCN", "A-2")]);
    }

    #[test]
    fn columns_are_those_that_are_named() {
        let files = Files {
            smiles_column: Some("Struktur".to_owned()),
            name_column: Some("Nr".to_owned()),
            ..Files::default()
        };
        let text = b"Nr,Struktur,smiles\n7,CCO,C\n";

        assert_eq!(read(&files, "a.csv", text).unwrap().targets, [target("CCO", "7")]);
        let refused = |files: &Files| read(files, "a.csv", b"Nr,Formel\n7,C2H6O\n").unwrap_err().to_string();
        assert!(
            refused(&Files::default())
                .contains("(Nr, Formel): name the one that holds them with --smiles-column")
        );
        assert!(refused(&files).contains("no column `struktur`"));
    }

    #[test]
    fn packed_files_are_unpacked() {
        use std::io::Write as _;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(format!("{ETHANOL}$$$$\n").as_bytes()).unwrap();

        let found = read(&Files::default(), "a.sdf.gz", &packed.finish().unwrap()).unwrap();

        assert_eq!(found.targets, [target("CCO", "ethanol")]);
    }
}
