//! V2000 connection tables: lines with fields at fixed places.

use super::{
    MolfileError, fault,
    table::{ConnectionTable, TableAtom, TableBond, atom_of, bond_order, polymer},
};

/// Maximum number of atoms, and of bonds.
const MAX_COUNT: usize = 999;

/// Reads a table.
pub(super) fn read(lines: &[&str]) -> Result<ConnectionTable, MolfileError> {
    let counts = lines.get(3).copied().unwrap_or_default();
    let (atoms, bonds) = (count(counts, 0)?, count(counts, 3)?);
    if atoms == 0 || lines.len() < 4 + atoms + bonds {
        return Err(fault(4, "fewer atoms and bonds than it says"));
    }
    let mut table = ConnectionTable::default();
    for (at, line) in lines.iter().enumerate().skip(4).take(atoms) {
        table.atoms.push(atom(line).map_err(|reason| fault(at + 1, reason))?);
    }
    for (at, line) in lines.iter().enumerate().skip(4 + atoms).take(bonds) {
        table.bonds.push(bond(line, atoms).map_err(|reason| fault(at + 1, reason))?);
    }
    let mut properties = Properties::default();
    let mut rest = lines.iter().enumerate().skip(4 + atoms + bonds);
    while let Some((at, line)) = rest.next() {
        if line.starts_with("M  END") {
            break;
        }
        if let Some(number) = line.strip_prefix("A  ") {
            let alias = rest.next().map(|(_, text)| text.trim()).unwrap_or_default();
            let atom = number_of(number, atoms).ok_or_else(|| fault(at + 1, "an alias of no atom"))?;
            properties.aliases.push((at + 2, atom, alias.to_owned()));
        } else {
            properties.read(line, atoms).map_err(|reason| fault(at + 1, reason))?;
        }
    }
    properties.apply(table)
}

fn count(line: &str, at: usize) -> Result<usize, MolfileError> {
    let found: Option<usize> = line.get(at..at + 3).and_then(|field| field.trim().parse().ok());
    found.filter(|&count| count <= MAX_COUNT).ok_or_else(|| fault(4, "no counts of atoms and bonds"))
}

/// Index of an atom by its number, from 1.
fn number_of(text: &str, atoms: usize) -> Option<usize> {
    text.trim().parse::<usize>().ok()?.checked_sub(1).filter(|&at| at < atoms)
}

fn atom(line: &str) -> Result<TableAtom, String> {
    let number = |begin: usize| line.get(begin..begin + 10)?.trim().parse::<f64>().ok();
    let place = || Some([number(0)?, number(10)?, number(20)?]);
    let place = place().ok_or("no atom")?;
    let small = |begin: usize| line.get(begin..begin + 3).map_or("", str::trim).parse::<u8>().unwrap_or(0);
    // The symbol has up to three letters; the mass difference follows it.
    let symbol = line.get(31..).and_then(|rest| rest.split_whitespace().next()).ok_or("no atom")?;
    let mut atom = atom_of(symbol)?;
    let is_mass_usual = line.get(34..36).is_none_or(|field| matches!(field.trim(), "" | "0"));
    if !is_mass_usual && atom.isotope.is_none() {
        return Err(format!("a mass difference at `{symbol}` is not read"));
    }
    atom.charge = match small(36) {
        0 => 0,
        4 => return Err("a radical".to_owned()),
        code @ (1..=3 | 5..=7) => 4 - i8::try_from(code).unwrap_or_default(),
        _ => return Err("no charge of an atom".to_owned()),
    };
    Ok(TableAtom { atom, place, valence: small(48) })
}

fn bond(line: &str, atoms: usize) -> Result<TableBond, String> {
    let field = |begin: usize| line.get(begin..begin + 3)?.trim().parse::<usize>().ok();
    let atom = |begin: usize| field(begin)?.checked_sub(1).filter(|&at| at < atoms);
    let ends = atom(0).zip(atom(3)).filter(|(begin, end)| begin != end);
    let (ends, kind) = ends.zip(field(6)).ok_or("no bond between two atoms")?;
    let stereo = field(9).unwrap_or(0);
    let order = bond_order(kind, stereo == 1, stereo == 6)?;
    Ok(TableBond { atoms: ends, order, is_either: kind == 2 && stereo == 3 })
}

/// Content of the property block.
#[derive(Default)]
struct Properties {
    /// Charges, which override all charges of the atom block.
    charges: Vec<(usize, i8)>,
    isotopes: Vec<(usize, u16)>,
    /// Lines, atoms and texts of the aliases.
    aliases: Vec<(usize, usize, String)>,
}

impl Properties {
    fn read(&mut self, line: &str, atoms: usize) -> Result<(), String> {
        let kind = line.get(..6).unwrap_or_default();
        let unreadable = || format!("no `{kind}` that is read");
        let is_refused = match kind {
            "M  RGP" => Some("an R-group"),
            "M  ALS" => Some("a list of atoms"),
            "M  APO" => Some("an attachment point"),
            "M  LIN" => Some("a link that repeats"),
            "M  ZBO" => Some("a bond of order zero"),
            _ if kind.starts_with("G  ") => Some("an abbreviated group"),
            "M  CHG" | "M  ISO" | "M  RAD" | "M  STY" => None,
            // Names, brackets and program-specific lines.
            _ => return Ok(()),
        };
        if let Some(what) = is_refused {
            return Err(format!("{what} (`{kind}`)"));
        }
        let mut fields = line.get(6..).unwrap_or_default().split_whitespace().skip(1);
        while let Some(number) = fields.next() {
            let value = fields.next().ok_or_else(unreadable)?;
            if kind == "M  STY" {
                polymer(value).map_or(Ok(()), Err)?;
                continue;
            }
            let at = number_of(number, atoms).ok_or_else(unreadable)?;
            match kind {
                "M  CHG" => self.charges.push((at, value.parse().map_err(|_| unreadable())?)),
                "M  ISO" => self.isotopes.push((at, value.parse().map_err(|_| unreadable())?)),
                _ if value == "0" => {}
                _ => return Err("a radical (`M  RAD`)".to_owned()),
            }
        }
        Ok(())
    }

    fn apply(self, mut table: ConnectionTable) -> Result<ConnectionTable, MolfileError> {
        if !self.charges.is_empty() {
            table.atoms.iter_mut().for_each(|atom| atom.atom.charge = 0);
        }
        self.charges.into_iter().for_each(|(at, charge)| table.atoms[at].atom.charge = charge);
        self.isotopes.into_iter().for_each(|(at, isotope)| table.atoms[at].atom.isotope = Some(isotope));
        for (line, at, alias) in self.aliases {
            if !alias.is_empty() {
                table.expand(at, &alias).map_err(|reason| fault(line, reason))?;
            }
        }
        Ok(table)
    }
}
