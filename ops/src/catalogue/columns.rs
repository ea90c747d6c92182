//! Which column of a file holds what.

use contract::Country;
use csv::StringRecord;

/// Names that a SMILES column goes by; the first that is there counts.
const SMILES_NAMES: [&str; 2] = ["full_canonical", "smiles"];

/// Columns by what they hold; each is an index into a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The entry's structure.
    pub smiles: usize,
    /// The vendor, where a file has several.
    pub vendor_name: Option<usize>,
    /// The vendor's catalogue entry.
    pub cs_id: Option<usize>,
    /// The vendor's catalogue prefix.
    pub cs_prefix: Option<usize>,
    /// Where the entry is described.
    pub cs_url: Option<usize>,
    /// Pack size.
    pub pack: Option<usize>,
    /// Unit of the pack size.
    pub uom: Option<usize>,
    /// USD for the pack.
    pub price_usd: Option<usize>,
    /// USD per gram of the major component, worked out by whoever wrote the file.
    pub normalised_usd: Option<usize>,
    /// USD per gram of the entry.
    pub usd_per_g: Option<usize>,
    /// Density of a liquid.
    pub density_g_per_ml: Option<usize>,
    /// Days to each country, in the order of [`Country::ALL`].
    pub lead_time_days: [Option<usize>; 8],
    /// Number of columns.
    pub count: usize,
}

/// A header that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// None of the columns `found` holds structures.
    #[error("no column `smiles` or `full_canonical` in the header ({found}); name it with --smiles-column")]
    NoSmiles { found: String },
    /// The user's column `name` is not among `found`.
    #[error("no column `{name}` in the header ({found})")]
    NoSuchColumn { name: String, found: String },
    /// Two columns have the name `name`.
    #[error("two columns `{name}` in the header")]
    Twice { name: String },
}

impl Columns {
    /// Reads a header; also gives the names of the columns that are not used. Letter case does not matter.
    ///
    /// # Errors
    /// Fails when no column, or not the one asked for, holds structures, or when a name is there twice.
    pub fn from_header(
        header: &StringRecord,
        smiles_column: Option<&str>,
    ) -> Result<(Self, Vec<String>), HeaderError> {
        let names: Vec<String> = header.iter().map(|name| name.trim().to_lowercase()).collect();
        let find = |name: &str| names.iter().position(|candidate| candidate == name);
        let found = || header.iter().collect::<Vec<_>>().join(", ");
        let smiles = match smiles_column {
            Some(name) => find(&name.trim().to_lowercase())
                .ok_or_else(|| HeaderError::NoSuchColumn { name: name.to_owned(), found: found() })?,
            None => SMILES_NAMES
                .iter()
                .find_map(|name| find(name))
                .ok_or_else(|| HeaderError::NoSmiles { found: found() })?,
        };
        let lead_time =
            |country: Country| find(&format!("lead_time_days_to_{}", country.code().to_lowercase()));
        let columns = Self {
            smiles,
            vendor_name: find("vendor_name"),
            cs_id: find("cs_id"),
            cs_prefix: find("cs_prefix"),
            cs_url: find("cs_url"),
            pack: find("pack"),
            uom: find("uom"),
            price_usd: find("price_usd"),
            normalised_usd: find("normalised_usd"),
            usd_per_g: find("usd_per_g"),
            density_g_per_ml: find("density_g_per_ml"),
            lead_time_days: Country::ALL.map(lead_time),
            count: names.len(),
        };
        let used = columns.used();
        let twice =
            used.iter().find(|&&column| names.iter().filter(|&name| *name == names[column]).count() > 1);
        if let Some(&column) = twice {
            return Err(HeaderError::Twice { name: names[column].clone() });
        }
        let unused =
            (0..names.len()).filter(|column| !used.contains(column)).map(|column| header[column].to_owned());
        Ok((columns, unused.collect()))
    }

    fn used(&self) -> Vec<usize> {
        let optional = [
            self.vendor_name,
            self.cs_id,
            self.cs_prefix,
            self.cs_url,
            self.pack,
            self.uom,
            self.price_usd,
            self.normalised_usd,
            self.usd_per_g,
            self.density_g_per_ml,
        ];
        [Some(self.smiles)].into_iter().chain(optional).chain(self.lead_time_days).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> StringRecord {
        StringRecord::from(names.to_vec())
    }

    #[test]
    fn columns_go_by_the_contracts_names_in_any_order_and_case() {
        let header = header(&["id", "Price_USD", "lead_time_days_to_CN", "SMILES"]);

        let (columns, unused) = Columns::from_header(&header, None).unwrap();

        assert_eq!((columns.smiles, columns.price_usd, columns.lead_time_days[6]), (3, Some(1), Some(2)));
        assert_eq!(unused, ["id"]);
    }

    #[test]
    fn the_users_word_for_the_structures_wins() {
        let header = header(&["smiles", "salt_smiles"]);

        let (columns, unused) = Columns::from_header(&header, Some("salt_smiles")).unwrap();

        assert_eq!((columns.smiles, unused), (1, vec!["smiles".to_owned()]));
    }

    #[test]
    fn a_header_without_structures_or_with_two_prices_is_refused() {
        let no_smiles = Columns::from_header(&header(&["CCO", "1"]), None);
        let twice = Columns::from_header(&header(&["smiles", "pack", "pack"]), None);

        assert_eq!(no_smiles, Err(HeaderError::NoSmiles { found: "CCO, 1".into() }));
        assert_eq!(twice, Err(HeaderError::Twice { name: "pack".into() }));
    }
}
