//! V3000 connection tables: blocks of lines with `KEY=value` properties.
//!
//! Racemates and unknown enantiomers (`STERAC`, `STEREL`) lose the marks of their centres, since one structure cannot
//! state them. Names, data and brackets of groups are ignored; polymers, templates, links and bonds to several atoms
//! are refused.

use std::collections::HashMap;

use super::{
    MolfileError, fault,
    table::{ConnectionTable, TableAtom, TableBond, atom_of, bond_order, polymer},
};

/// Start of every line.
const START: &str = "M  V30 ";

/// Reads a table.
pub(super) fn read(lines: &[&str]) -> Result<ConnectionTable, MolfileError> {
    let mut reader = Reader::default();
    let mut lines =
        lines.iter().enumerate().skip(4).filter_map(|(at, line)| Some((at, line.strip_prefix(START)?)));
    while let Some((at, line)) = lines.next() {
        let mut whole = line.trim_end().to_owned();
        // A dash at the end joins the next line.
        while whole.ends_with('-') {
            whole.pop();
            whole.push_str(lines.next().map(|(_, line)| line.trim_end()).unwrap_or_default());
        }
        reader.line(&whole).map_err(|reason| fault(at + 1, reason))?;
    }
    if reader.table.atoms.is_empty() {
        return Err(fault(4, "no atoms"));
    }
    Ok(reader.table)
}

#[derive(Default)]
struct Reader {
    table: ConnectionTable,
    /// Indices of the atoms by their numbers.
    numbers: HashMap<String, usize>,
    /// Blocks that have begun and not ended.
    blocks: Vec<String>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let fields = fields(line);
        match fields.first().map(String::as_str) {
            None => return Ok(()),
            Some("BEGIN") => {
                let block = fields.get(1).cloned().unwrap_or_default();
                if block == "RGROUP" || block == "TEMPLATE" {
                    return Err(format!("a block `{block}` is not read"));
                }
                self.blocks.push(block);
                return Ok(());
            }
            Some("END") => {
                self.blocks.pop();
                return Ok(());
            }
            Some("LINKNODE") => return Err("a link that repeats (`LINKNODE`)".to_owned()),
            Some(_) => {}
        }
        match self.blocks.last().map(String::as_str) {
            Some("ATOM") => self.atom(&fields),
            Some("BOND") => self.bond(&fields),
            Some("SGROUP") => fields.get(1).and_then(|kind| polymer(kind)).map_or(Ok(()), Err),
            Some("COLLECTION") => {
                self.collection(&fields);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn atom(&mut self, fields: &[String]) -> Result<(), String> {
        let [number, symbol, x, y, z, _, properties @ ..] = fields else { return Err("no atom".to_owned()) };
        let mut atom = atom_of(symbol)?;
        let place = [x, y, z].map(|text| text.parse::<f64>().ok());
        let [Some(x), Some(y), Some(z)] = place else { return Err("no place of an atom".to_owned()) };
        let mut valence = 0;
        for property in properties {
            let (key, value) = property.split_once('=').unwrap_or((property, ""));
            let wrong = || format!("`{}` is not read", super::shorten(property));
            match key {
                "CHG" => atom.charge = value.parse().map_err(|_| wrong())?,
                "MASS" => atom.isotope = Some(value.parse().map_err(|_| wrong())?),
                "VAL" if value == "-1" => valence = 15,
                "VAL" => valence = value.parse().ok().filter(|valence| *valence < 15).ok_or_else(wrong)?,
                "RAD" if value != "0" => return Err("a radical (`RAD`)".to_owned()),
                "ATTCHPT" if value != "0" => return Err("an attachment point (`ATTCHPT`)".to_owned()),
                "RGROUPS" | "CLASS" | "ATTCHORD" | "SEQID" => return Err(wrong()),
                _ => {}
            }
        }
        if self.numbers.insert(number.clone(), self.table.atoms.len()).is_some() {
            return Err(format!("two atoms `{}`", super::shorten(number)));
        }
        self.table.atoms.push(TableAtom { atom, place: [x, y, z], valence });
        Ok(())
    }

    fn bond(&mut self, fields: &[String]) -> Result<(), String> {
        let [_, kind, begin, end, properties @ ..] = fields else { return Err("no bond".to_owned()) };
        let ends = self.numbers.get(begin).copied().zip(self.numbers.get(end).copied());
        let ends = ends.filter(|(begin, end)| begin != end).ok_or("no bond between two atoms")?;
        let kind: usize = kind.parse().map_err(|_| "no bond")?;
        let value = |wanted: &str| {
            properties.iter().find_map(|property| property.strip_prefix(wanted)?.strip_prefix('='))
        };
        if value("ENDPTS").is_some() {
            return Err("a bond to several atoms (`ENDPTS`)".to_owned());
        }
        let stereo = value("CFG").unwrap_or("0");
        let order = bond_order(kind, stereo == "1", stereo == "3")?;
        self.table.bonds.push(TableBond { atoms: ends, order, is_either: kind == 2 && stereo == "2" });
        Ok(())
    }

    /// Notes the centres of a racemate or of an unknown enantiomer: `MDLV30/STERAC1 ATOMS=(2 4 7)`.
    fn collection(&mut self, fields: &[String]) {
        let is_relative =
            fields.first().is_some_and(|name| name.contains("/STERAC") || name.contains("/STEREL"));
        if !is_relative {
            return;
        }
        let lists = fields.iter().filter_map(|field| field.strip_prefix("ATOMS=("));
        for list in lists {
            let numbers = list.trim_end_matches(')').split_whitespace().skip(1);
            self.table.relative.extend(numbers.filter_map(|number| self.numbers.get(number)));
        }
    }
}

/// Splits a line at blanks outside of parentheses and quotes.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut depth, mut is_quoted) = (vec![String::new()], 0_u32, false);
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if character.is_whitespace() && depth == 0 && !is_quoted {
            fields.push(String::new());
        } else if let Some(field) = fields.last_mut() {
            field.push(character);
        }
    }
    fields.retain(|field| !field.is_empty());
    fields
}
