//! Consistency of the catalogue: every building block is parsed, and its data are compared with today's computation.

use chem::{Limits, Molecule};
use futures::TryStreamExt as _;
use rayon::prelude::*;
use sqlx::PgConnection;

use crate::CatalogueError;

/// Blocks parsed together: enough for every core.
const PART: usize = 4_096;

/// Relative difference of weights that is explained by rounding to single precision.
const ROUNDING: f64 = 1e-6;

/// Fault of a building block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockFault {
    /// Catalogue id.
    pub id: i32,
    /// Stored SMILES.
    pub smiles: String,
    /// Description of the fault.
    pub what: String,
}

struct CheckedBlock {
    id: i32,
    smiles: String,
    mw: f32,
    morgan_bits: Vec<u8>,
    offers: i64,
}

/// Checks every building block and returns the faults; `seen` gets the number of blocks checked in each step.
///
/// # Errors
/// Fails if the database does.
pub async fn verify(
    database: &mut PgConnection,
    mut seen: impl FnMut(u64),
) -> Result<Vec<BlockFault>, CatalogueError> {
    let failed = CatalogueError::of("reading the catalogue");
    let blocks = sqlx::query_as!(
        CheckedBlock,
        r#"select id, smiles, mw, morgan_bits,
            (select count(*) from offers where building_block_id = building_blocks.id) as "offers!"
         from building_blocks order by id"#
    )
    .fetch(database)
    .try_chunks(PART);
    let mut blocks = std::pin::pin!(blocks);
    let mut faults = Vec::new();
    while let Some(part) = blocks.try_next().await.map_err(|error| failed(error.1))? {
        let fault = |block: &CheckedBlock| {
            let what = find_fault(block)?;
            Some(BlockFault { id: block.id, smiles: block.smiles.clone(), what })
        };
        faults.par_extend(part.par_iter().filter_map(fault));
        seen(part.len() as u64);
    }
    Ok(faults)
}

/// Removes the building blocks that nobody offers; returns their numbers and SMILES. The caller holds the
/// [`lock`](crate::load::lock) of the catalogue.
///
/// # Errors
/// Fails if the database does.
pub async fn remove_orphans(database: &mut PgConnection) -> Result<Vec<(i32, String)>, sqlx::Error> {
    let removed = sqlx::query!(
        "delete from building_blocks
         where not exists (select from offers where offers.building_block_id = building_blocks.id)
         returning id, smiles"
    )
    .fetch_all(database)
    .await?;
    Ok(removed.into_iter().map(|block| (block.id, block.smiles)).collect())
}

fn find_fault(block: &CheckedBlock) -> Option<String> {
    let molecule = match Molecule::parse(&block.smiles, Limits::DEFAULT) {
        Ok(molecule) => molecule,
        Err(error) => return Some(format!("cannot be read: {error}")),
    };
    let (canonical, mw) = (molecule.canonical_smiles(), molecule.molecular_weight());
    if canonical != block.smiles {
        return Some(format!("is written `{canonical}` today: import its vendors' files again"));
    }
    if (f64::from(block.mw) - mw).abs() > mw * ROUNDING {
        return Some(format!("has {mw:.3} g/mol and not {:.3}", block.mw));
    }
    if molecule.fingerprint().to_bytes() != block.morgan_bits {
        return Some("has another fingerprint today: import its vendors' files again".to_owned());
    }
    (block.offers == 0).then(|| "is offered by nobody (`catalogue verify --repair` removes it)".to_owned())
}
