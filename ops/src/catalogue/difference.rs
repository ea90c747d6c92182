//! Preview of an import: vendors' files compared with the loaded catalogue, or with other files.

use catalogue_tables::{
    difference::{self, Difference, DifferenceCounts},
    load, structure_changes,
};
use sqlx::PgConnection;

use super::files::{CatalogueImport, InputFiles};
use crate::failure::Failure;

/// Compares files with the files `before`, or with the loaded offers of their vendors, and passes each difference to
/// `report`, by vendor, entry and pack. Nothing is changed.
///
/// # Errors
/// Fails if a file cannot be read to its end, if the database fails, or if `report` does.
pub async fn difference(
    database: &mut PgConnection,
    import: &CatalogueImport,
    before: Option<&CatalogueImport>,
    report: impl FnMut(&Difference) -> Result<(), Failure>,
) -> Result<DifferenceCounts, Failure> {
    // Dropping the transaction drops the temporary tables.
    let mut transaction = load::begin(database).await?;
    let base = match before {
        None => difference::DiffBase::Loaded(import.vendor.as_deref()),
        Some(older) => {
            staged(&mut transaction, older).await?;
            difference::set_aside(&mut transaction).await?;
            difference::DiffBase::SetAside
        }
    };
    staged(&mut transaction, import).await?;
    difference::difference(&mut transaction, base, report).await
}

async fn staged(connection: &mut PgConnection, import: &CatalogueImport) -> Result<(), Failure> {
    let mut files = InputFiles::open(import)?;
    load::stage(connection, &mut files).await?;
    structure_changes::settle(connection, |change| files.report_doubled(change)).await?;
    files.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use test_support::with_database;

    use super::*;
    use crate::catalogue::import::import;

    fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> CatalogueImport {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        CatalogueImport { files: vec![path], vendor: Some("House".into()), ..CatalogueImport::default() }
    }

    async fn lines(
        database: &mut PgConnection,
        import: &CatalogueImport,
        before: Option<&CatalogueImport>,
    ) -> (DifferenceCounts, Vec<String>) {
        let mut lines = Vec::new();
        let counts = difference(database, import, before, |difference| {
            let Difference { change, cs_id, pack, what, before, after, .. } = difference;
            lines.push(format!("{change:?} {cs_id} {pack}: {what} {before} -> {after}"));
            Ok(())
        });
        (counts.await.unwrap(), lines)
    }

    const BEFORE: &str = "smiles,cs_id,pack,uom,price_usd,lead_time_days_to_US,ships_to_CN,amount,location\n\
                          CCO,1,10,g,20,3,,,\nCCO,1,100,g,90,,,,\nCCN,2,1,g,5,,yes,2 g,A1\nCCC,3,1,g,5,,,,\nCCCC,4,1,g,5,,,,\n";
    const AFTER: &str = "smiles,cs_id,pack,uom,price_usd,lead_time_days_to_US,ships_to_CN,amount,location\n\
                         CCO,1,10,g,25,3,,,\nCCO,1,250,g,90,,,,\nCCN,2,1,g,5,7,no,1.5 g,A1\nCCC,3,1,g,5,,,,\nCCF,5,1,g,,,,,\n";

    #[tokio::test]
    async fn a_file_differs_from_the_catalogue_by_new_removed_and_changed_offers() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let other =
                CatalogueImport { vendor: Some("Other".into()), ..file(&folder, "other.csv", BEFORE) };
            import(database, &other).await.unwrap();
            let (before, after) = (file(&folder, "before.csv", BEFORE), file(&folder, "after.csv", AFTER));
            import(database, &before).await.unwrap();

            let loaded = lines(database, &after, None).await;
            let of_files = lines(database, &after, Some(&before)).await;
            let same = lines(database, &before, None).await;

            let expected = [
                "Changed 1 10 g: price_usd 20 -> 25",
                "Changed 1 250 g: pack 100 g -> 250 g",
                "Changed 2 1 g: amount 2 g -> 1.5 g",
                "Changed 2 1 g: lead_time_days_to_US  -> 7",
                "Changed 2 1 g: ships_to_CN yes -> no",
                "Gone 4 1 g: price_usd 5 -> ",
                "New 5 1 g: price_usd  -> ",
            ];
            assert_eq!(loaded.1, expected);
            assert_eq!(loaded.0, DifferenceCounts { new: 1, gone: 1, changed: 3, same: 1 });
            assert_eq!(of_files, loaded);
            assert_eq!(same, (DifferenceCounts { same: 5, ..DifferenceCounts::default() }, vec![]));
            // The compared files are not imported.
            let blocks: i64 =
                sqlx::query_scalar("select count(*) from building_blocks").fetch_one(database).await.unwrap();
            assert_eq!(blocks, 4);
        })
        .await;
    }

    #[tokio::test]
    async fn a_file_of_an_unknown_vendor_is_all_new_and_one_without_offers_all_gone() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let before = file(&folder, "before.csv", BEFORE);
            let empty = file(&folder, "empty.csv", "smiles,cs_id\nC1CC,9\n");

            let all_new = lines(database, &before, None).await;
            import(database, &before).await.unwrap();
            let all_gone = lines(database, &empty, None).await;

            assert_eq!(all_new.0, DifferenceCounts { new: 5, ..DifferenceCounts::default() });
            assert_eq!(all_gone.0, DifferenceCounts { gone: 5, ..DifferenceCounts::default() });
        })
        .await;
    }
}
