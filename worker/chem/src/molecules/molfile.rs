//! Connection tables of structure files (BIOVIA, "CTfile Formats", V2000 and V3000).
//!
//! The decision that matters: a table becomes a SMILES and is parsed as one, so that one place decides what counts as
//! a molecule. Content that a guess would corrupt is refused with its line and name: radicals, R-groups, attachment
//! points, lists of atoms, query bonds, polymers, aliases that are not in the table.

mod alias;
mod table;
mod v2000;
mod v3000;

/// An invalid or unsupported connection table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct MolfileError {
    /// Line number, counted from 1.
    pub line: usize,
    /// Description of the fault.
    pub reason: String,
}

/// Structure of a connection table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MolfileStructure {
    /// SMILES, which need not be a valid molecule yet.
    pub smiles: String,
    /// True if configurations are left out because the table calls them racemic or unknown.
    pub has_unknown_configuration: bool,
}

/// Converts a connection table to a SMILES that holds all of its information. The SMILES need not be a valid molecule
/// yet.
///
/// # Errors
/// Names the unsupported or malformed content and its line.
pub fn smiles_of_molfile(text: &str) -> Result<String, MolfileError> {
    Ok(read_molfile(text)?.smiles)
}

/// Reads a connection table.
///
/// # Errors
/// Names the unsupported or malformed content and its line.
pub fn read_molfile(text: &str) -> Result<MolfileStructure, MolfileError> {
    let lines: Vec<&str> = text.lines().collect();
    let is_v3000 = lines.get(3).is_some_and(|counts| counts.contains("V3000"));
    let table = if is_v3000 { v3000::read(&lines) } else { v2000::read(&lines) };
    table?.structure().ok_or_else(|| fault(4, "no SMILES can be written of it"))
}

fn fault(line: usize, reason: impl Into<String>) -> MolfileError {
    MolfileError { line, reason: reason.into() }
}

/// Shortens a text of the file for a message.
fn shorten(text: &str) -> String {
    text.chars().take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a table of two atoms from the first atom line, a bond and properties.
    fn table(atom: &str, bond: &str, properties: &str) -> String {
        format!(
            "\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n{atom}\n    1.0000    0.0000    0.0000 O   0  0\n{bond}\n{properties}M  END\n"
        )
    }

    const CARBON: &str = "    0.0000    0.0000    0.0000 C   0  0";

    #[test]
    fn charges_isotopes_and_hydrogens_are_as_the_table_says() {
        let cases = [
            (CARBON, "  1  2  1  0", "", "CO"),
            (CARBON, "  1  2  2  0", "", "C=O"),
            (CARBON, "  1  2  1  0", "M  CHG  1   2  -1\nM  ISO  1   1  13\n", "[13CH3][O-]"),
            ("    0.0000    0.0000    0.0000 N   0  3", "  1  2  1  0", "", "[NH3+]O"),
            ("    0.0000    0.0000    0.0000 Si  0  0", "  1  2  1  0", "", "O[SiH3]"),
            ("    0.0000    0.0000    0.0000 D   0  0", "  1  2  1  0", "", "[2H]O"),
            (
                "    0.0000    0.0000    0.0000 C   0  0  0  0  0  2",
                "  1  2  1  0",
                "M  CHG  1   1   1\n",
                "[CH+]O",
            ),
        ];
        for (atom, bond, properties, expected) in cases {
            assert_eq!(
                smiles_of_molfile(&table(atom, bond, properties)).as_deref(),
                Ok(expected),
                "{atom} {properties}"
            );
        }
    }

    #[test]
    fn what_is_not_read_is_refused_by_line() {
        let cases = [
            (table("    0.0000    0.0000    0.0000 Xx  0  0", "  1  2  1  0", ""), 5),
            (table("    0.0000    0.0000 C", "  1  2  1  0", ""), 5),
            (table(CARBON, "  1  3  1  0", ""), 7),
            (table(CARBON, "  1  0  1  0", ""), 7),
            (table(CARBON, "  1  1  1  0", ""), 7),
            (table(CARBON, "  1  2  8  0", ""), 7),
            (table(CARBON, "  1  2  1  0", "M  RAD  1   1   2\n"), 8),
            (table(CARBON, "  1  2  1  0", "M  CHG  1   9   1\n"), 8),
            (table(CARBON, "  1  2  1  0", "M  CHG  1   1\n"), 8),
            ("\n\n\n  9  1  0  0  0  0  0  0  0  0999 V2000\nM  END\n".to_owned(), 4),
            ("\n\n\n  0  0  0     0  0            999 V3000\nM  END\n".to_owned(), 4),
            (table(CARBON, "  1  2  1  0", "M  STY  1   1 SRU\n"), 8),
            (table(CARBON, "  1  2  1  0", "M  RGP  1   1   1\n"), 8),
            (table(CARBON, "  1  2  1  0", "A    1\nXyz\n"), 9),
            (table(CARBON, "  1  2  2  0", "A    1\nPh\n"), 9),
            (table(CARBON, "  1  2  1  0", "A    7\nPh\n"), 8),
            ("\n\n\n  é  0\n".to_owned(), 4),
            (String::new(), 4),
        ];
        for (text, line) in cases {
            assert_eq!(smiles_of_molfile(&text).map_err(|error| error.line), Err(line), "{text}");
        }
    }

    #[test]
    fn an_unread_symbol_is_named() {
        let cases = [
            ("OMe", "`OMe` is no element"),
            ("R# ", "`R#` is an R-group"),
            ("R1 ", "`R1` is an R-group"),
            ("A  ", "`A` is any of several atoms"),
            ("*  ", "`*` is any of several atoms"),
            ("L  ", "`L` is a list of atoms"),
            ("Xx ", "`Xx` is no element"),
        ];
        for (symbol, reason) in cases {
            let atom = format!("    0.0000    0.0000    0.0000 {symbol} 0  0");

            let found = smiles_of_molfile(&table(&atom, "  1  2  1  0", ""));

            assert_eq!(found, Err(fault(5, reason)), "{symbol}");
        }
    }

    #[test]
    fn an_alias_is_its_group() {
        let cases = [
            ("CF3", "OC(F)(F)F"),
            ("Ph", "Oc1ccccc1"),
            ("NO2", "O=[N+]([O-])O"),
            ("CO2Me", "COC(=O)O"),
            ("MeO2C", "COC(=O)O"),
            ("NH2", "NO"),
            ("Cl", "OCl"),
            ("tBu", "CC(C)(C)O"),
        ];
        for (alias, expected) in cases {
            let found = smiles_of_molfile(&table(CARBON, "  1  2  1  0", &format!("A    1\n{alias}\n")));

            assert_eq!(found.as_deref(), Ok(expected), "{alias}");
        }
        let unknown = smiles_of_molfile(&table(CARBON, "  1  2  1  0", "A    1\nXyz\n"));
        assert_eq!(unknown, Err(fault(9, "the alias `Xyz` is not known")));
    }

    /// Builds a V3000 table of ethanol's skeleton.
    fn v3000(atom: &str, bond: &str, more: &str) -> String {
        format!(
            "\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\nM  V30 BEGIN ATOM\n\
             M  V30 {atom}\nM  V30 7 O 1 0 0 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 {bond}\nM  V30 END BOND\n{more}\
             M  V30 END CTAB\nM  END\n"
        )
    }

    #[test]
    fn a_v3000_table_is_read_and_the_unread_is_named() {
        let read = [
            ("1 C 0 0 0 0", "1 1 1 7", "", "CO"),
            ("1 C 0 0 0 0 MASS=13", "1 2 1 7", "", "[13CH2]=O"),
            ("1 N 0 0 0 0 -\nM  V30 CHG=1", "1 1 1 7", "", "[NH3+]O"),
            (
                "1 C 0 0 0 0 CFG=0 ATTCHPT=0",
                "1 1 1 7",
                "M  V30 BEGIN SGROUP\nM  V30 1 DAT 0 ATOMS=(1 1) FIELDNAME=\"a b\"\nM  V30 END SGROUP\n",
                "CO",
            ),
        ];
        for (atom, bond, more, expected) in read {
            assert_eq!(smiles_of_molfile(&v3000(atom, bond, more)).as_deref(), Ok(expected), "{atom} {more}");
        }
        let refused = [
            ("1 R# 0 0 0 0 RGROUPS=(1 1)", "1 1 1 7", "", 8, "`R#` is an R-group"),
            ("1 [C,N] 0 0 0 0", "1 1 1 7", "", 8, "`[C,N]` is no element"),
            ("1 C 0 0 0 0 RAD=2", "1 1 1 7", "", 8, "a radical (`RAD`)"),
            ("1 C 0 0 0 0 ATTCHPT=1", "1 1 1 7", "", 8, "an attachment point (`ATTCHPT`)"),
            ("1 C 0 0 0 0", "1 8 1 7", "", 12, "a bond of type 8 is not read"),
            ("1 C 0 0 0 0", "1 1 1 9", "", 12, "no bond between two atoms"),
            ("1 C 0 0 0 0", "1 1 1 7 ENDPTS=(2 1 7)", "", 12, "a bond to several atoms (`ENDPTS`)"),
            (
                "1 C 0 0 0 0",
                "1 1 1 7",
                "M  V30 BEGIN SGROUP\nM  V30 1 SRU 0 ATOMS=(1 1)\nM  V30 END SGROUP\n",
                15,
                "a polymer (`SRU`)",
            ),
        ];
        for (atom, bond, more, line, reason) in refused {
            assert_eq!(
                smiles_of_molfile(&v3000(atom, bond, more)),
                Err(fault(line, reason)),
                "{atom} {bond}"
            );
        }
    }
}
