//! What must hold whatever string somebody sends, one function a language: for the fuzz targets in `ops/fuzz`, and for the
//! tests here, which feed them the same seeds.
//!
//! A panic is a finding, and so is an input that takes seconds.

use std::sync::LazyLock;

use chematic::core::{AtomIdx, ez_markers};
use chematic::perception::find_sssr;

use crate::molecules::descriptors::{Descriptors, scaffold};
use crate::ordinary::canonicalise;
use crate::{
    Limits, Molecule, Pattern, PreparedMolecule, Structure, Template, TemplateIndex, Written, drawing,
};

/// As many matches of a template are tried: searches give up by the clock.
const MATCHES: usize = 20;

/// What patterns and templates are tried on: chains, rings, stereo, charges, a salt, isotopes, and next to nothing.
static MOLECULES: LazyLock<Vec<PreparedMolecule>> = LazyLock::new(|| {
    let molecules = [
        "CC(=O)Nc1ccc(O)cc1",
        "C[C@H](N)C(=O)N1CCC[C@@H]1C(=O)O",
        "O=[N+]([O-])c1ccccc1/C=C/C#N",
        "CCO.Cl",
        "[2H]C([2H])Cl",
        "C1CC2CCC1CC2",
        "C",
    ];
    let read = |smiles: &str| smiles.parse().expect("fuzz: a molecule of ours is one");
    molecules.iter().map(|smiles| PreparedMolecule::new(&read(smiles))).collect()
});

/// A string that may be a SMILES: both ways read it alike, what is wrong has a place within it, and a molecule comes back from
/// what was written of it.
pub fn smiles(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let short = canonicalise(text, Limits::DEFAULT);
    let long = Molecule::parse_any(text, Limits::DEFAULT);
    if let Err(error) = &long {
        assert!(error.position().is_none_or(|at| text.is_char_boundary(at) && at <= text.len()), "{error}");
    }
    if let Some(short) = short {
        let long = long.as_ref().expect("what the short way reads, the long way reads");
        assert_eq!((short.canonical.as_str(), short.heavy_atoms), (long.as_canonical(), long.heavy_atoms()));
    }
    let Ok(molecule) = Molecule::parse(text, Limits::DEFAULT) else { return };
    comes_back(text, &molecule);
    is_described(&molecule);
}

/// What is written of a molecule is the molecule.
fn comes_back(text: &str, molecule: &Molecule) {
    let canonical = molecule.as_canonical();
    // RDKit reads some of what it wrote as something else: it moves the charges of halogen oxides, drops a hydrogen
    // that it kept for a mark which has gone, is of two minds about aromatic bonds in no ring, makes one bond of a metal
    // after the other dative, and gives squares, bipyramids and octahedra another number each time where two ligands
    // or more are missing.
    let unsettled = ["[ClH", "[BrH", "[IH", "[H]", ":", "->", "<-", "@SP", "@TB", "@OH"];
    if unsettled.iter().any(|part| canonical.contains(part) || text.contains(part))
        || has_unsettled_rings(molecule)
    {
        return;
    }
    // RDKit gives a radical at a stereocentre one hand and the other in turns.
    if molecule.has_radicals() && canonical.contains('@') {
        return;
    }
    // Marks that contradict each other say nothing of their double bond; those of its neighbours, once written, may.
    if ez_markers::read_ez_facts(molecule.graph()).is_some_and(|(_, conflict)| conflict) {
        return;
    }
    // What it writes may be longer than what it takes.
    let limits = Limits { max_bytes: usize::MAX, ..Limits::DEFAULT };
    let again = Molecule::parse(canonical, limits).expect("what was written is read");
    assert_eq!(again.as_canonical(), canonical);
    assert_eq!((again.key(), again.heavy_atoms()), (molecule.key(), molecule.heavy_atoms()));
    assert_eq!(again.fingerprint(), molecule.fingerprint());
}

/// Whether RDKit may see other aromatic rings in what it wrote: of two rings of nine atoms or more it saw either before 2026.09,
/// as the atoms stood, and only one may be aromatic; beside a ring of four it may see one of eight the second time alone; and it
/// is of two minds about an atom that is any.
fn has_unsettled_rings(molecule: &Molecule) -> bool {
    let graph = molecule.graph();
    let rings = find_sssr(graph);
    let of_size = |size: usize| rings.rings().iter().any(|ring| ring.len() == size);
    let is_any = |&atom: &AtomIdx| graph.atom(atom).wildcard;
    rings.rings().iter().any(|ring| ring.len() > 8 || ring.iter().any(is_any)) || of_size(8) && of_size(4)
}

/// All that is asked of molecules has an answer.
fn is_described(molecule: &Molecule) {
    assert!(molecule.molecular_weight().is_finite());
    let _ = (Descriptors::of(molecule), scaffold(molecule), molecule.is_achiral(), molecule.tautomer_key());
    let neutral = molecule.neutral();
    assert_eq!(neutral.neutral().as_canonical(), neutral.as_canonical(), "of {molecule:?}");
    let parent = molecule.parent();
    assert!(parent.copies > 0 && parent.copies <= parent.others.len() + 1);
    let (structure, written) = (Structure::of(molecule), Written::read(molecule.as_canonical()));
    assert_eq!(structure.len(), written.atoms.len());
    assert!(drawing(molecule, 300.0, 200.0).ends_with("</svg>"));
}

/// A string that may be a SMARTS pattern: by masks it is found where it is found by the whole pattern.
pub fn smarts(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Ok(pattern) = Pattern::parse(text) else { return };
    for molecule in MOLECULES.iter() {
        let found = pattern.matches(molecule.molecule());
        // Either gives up somewhere, the sooner the more loose components there are.
        if let Some(atoms) = pattern.first_atoms(molecule)
            && !text.contains('.')
        {
            assert_eq!(!atoms.is_empty(), found, "in {:?}", molecule.molecule());
        }
    }
}

/// A string that may be a reaction template: what it makes of a molecule are molecules of atoms that were there, the index finds it
/// wherever it makes something, and what it gives forwards it says that it gives.
///
/// One molecule an input, which the input picks, so that it is always the same: all of them took seven times as long.
pub fn template(input: &[u8]) {
    let Some(template) = read_template(input) else { return };
    let picked = input.iter().map(|&byte| usize::from(byte)).sum::<usize>() % MOLECULES.len();
    is_applied(&template, &MOLECULES[picked]);
}

fn read_template(input: &[u8]) -> Option<Template> {
    Template::parse(str::from_utf8(input).ok()?).ok()
}

fn is_applied(template: &Template, product: &PreparedMolecule) {
    let index = TemplateIndex::new([(0, template)]);
    let mut tries = 0;
    let outcomes = template.apply_while(product, &mut || {
        tries += 1;
        tries <= MATCHES
    });
    let molecule = product.molecule();
    for precursor in outcomes.iter().flat_map(|outcome| &outcome.precursors) {
        let made = &precursor.molecule;
        assert_eq!(precursor.sources.len(), made.atoms());
        assert!(precursor.sources.iter().flatten().all(|&source| (source as usize) < molecule.atoms()));
        assert!(!made.as_canonical().is_empty(), "what is made can be written down");
    }
    assert!(outcomes.is_empty() || !index.matches(product).templates.is_empty(), "of {molecule:?}");
    if let Some(outcome) = outcomes.first() {
        let precursors: Vec<Molecule> = outcome.precursors.iter().map(|part| part.molecule.clone()).collect();
        let given = template.forward_traced(&precursors);
        assert!(
            given.iter().all(|product| template.gives(&precursors, product.molecule.key())),
            "of {molecule:?}: {given:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use replay::replay;

    use super::*;

    #[test]
    fn any_string_is_a_molecule_or_has_its_fault() {
        replay("smiles", 5_000, smiles);
    }

    #[test]
    fn any_string_is_a_pattern_or_has_its_fault() {
        replay("smarts", 5_000, smarts);
    }

    #[test]
    fn any_string_is_a_template_or_has_its_fault() {
        replay("template", 5_000, template);
    }

    #[test]
    fn every_seed_is_tried_on_every_molecule() {
        replay("template", 0, |input| {
            let Some(template) = read_template(input) else { return };
            MOLECULES.iter().for_each(|product| is_applied(&template, product));
        });
    }
}
