//! Finished molecules in Postgres, per model, waiting to be handed out.
//!
//! A row is a block of some hundred molecules. A sample takes whole blocks, and what it does not need of the
//! last one goes back, inside the transaction that stores the sample: so a molecule is handed out once, and an
//! attempt that fails hands out nothing. Blocks that another sample is taking are passed over, not waited for.

use std::collections::{BTreeMap, HashSet};

use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::resources::Model;

/// Molecules of a full block.
pub const BLOCK: usize = 500;
/// Blocks read for each that should do, since some have given molecules already.
const SPARE_BLOCKS: usize = 1;

/// A block, taken out.
#[derive(sqlx::FromRow)]
struct Block {
    smiles: String,
}

/// Takes up to `size` distinct molecules of `model` out of the reservoir.
///
/// # Errors
/// Fails when the database does.
pub async fn take(
    connection: &mut PgConnection,
    model: &Model,
    size: usize,
) -> Result<Vec<String>, sqlx::Error> {
    let mut taken = Taken::default();
    while taken.molecules.len() < size {
        let blocks = take_blocks(connection, model, (size - taken.molecules.len()).div_ceil(BLOCK)).await?;
        if blocks.is_empty() {
            break;
        }
        let mut left = Vec::new();
        for block in &blocks {
            taken.add(block, size, &mut left);
        }
        put(connection, model, &left).await?;
    }
    Ok(taken.molecules)
}

/// The molecules of one sample.
#[derive(Default)]
struct Taken {
    molecules: Vec<String>,
    known: HashSet<String>,
}

impl Taken {
    /// Adds what is new in `block`, up to `size` molecules in all; the rest goes to `left`.
    fn add(&mut self, block: &Block, size: usize, left: &mut Vec<String>) {
        for smiles in block.smiles.split('\n') {
            if self.molecules.len() >= size {
                left.push(smiles.to_owned());
            } else if self.known.insert(smiles.to_owned()) {
                self.molecules.push(smiles.to_owned());
            }
        }
    }
}

async fn take_blocks(
    connection: &mut PgConnection,
    model: &Model,
    count: usize,
) -> Result<Vec<Block>, sqlx::Error> {
    sqlx::query_as(
        "with oldest as (
            select id from reservoir_blocks
            where model_id = $1 and model_version = $2
            order by id limit $3
            for update skip locked
        )
        delete from reservoir_blocks using oldest where reservoir_blocks.id = oldest.id returning smiles",
    )
    .bind(model.id())
    .bind(&model.version)
    .bind(i64::try_from(count + SPARE_BLOCKS).unwrap_or(i64::MAX))
    .fetch_all(connection)
    .await
}

/// Puts distinct molecules of `model` into the reservoir, in blocks.
///
/// # Errors
/// Fails when the database does.
pub async fn put(
    connection: &mut PgConnection,
    model: &Model,
    molecules: &[String],
) -> Result<(), sqlx::Error> {
    for block in molecules.chunks(BLOCK) {
        sqlx::query(
            "insert into reservoir_blocks (model_id, model_version, smiles, molecules) values ($1, $2, $3, $4)",
        )
        .bind(model.id())
        .bind(&model.version)
        .bind(block.join("\n"))
        .bind(i32::try_from(block.len()).unwrap_or(i32::MAX))
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// How many molecules wait, by model and version of the model.
///
/// # Errors
/// Fails when the database does.
pub async fn levels(database: impl PgExecutor<'_>) -> Result<Levels, sqlx::Error> {
    let rows: Vec<(String, String, i64)> = sqlx::query_as(
        "select model_id, model_version, sum(molecules)::bigint from reservoir_blocks group by 1, 2",
    )
    .fetch_all(database)
    .await?;
    let level = |(id, version, molecules)| ((id, version), usize::try_from(molecules).unwrap_or(0));
    Ok(Levels(rows.into_iter().map(level).collect()))
}

/// How many molecules wait.
#[derive(Debug, Default)]
pub struct Levels(BTreeMap<(String, String), usize>);

impl Levels {
    /// Molecules that wait for samples of `model`.
    #[must_use]
    pub fn of(&self, model: &Model) -> usize {
        self.0.get(&(model.id().to_owned(), model.version.clone())).copied().unwrap_or(0)
    }
}

/// Drops the blocks that older versions of `model` left.
///
/// # Errors
/// Fails when the database does.
pub async fn drop_other_versions(pool: &PgPool, model: &Model) -> Result<u64, sqlx::Error> {
    let done = sqlx::query("delete from reservoir_blocks where model_id = $1 and model_version <> $2")
        .bind(model.id())
        .bind(&model.version)
        .execute(pool)
        .await?;
    Ok(done.rows_affected())
}

/// Drops the blocks of models that no sampler has had for a day.
///
/// # Errors
/// Fails when the database does.
pub async fn drop_orphans(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let done = sqlx::query(
        "delete from reservoir_blocks
        where created_at < now() - interval '1 day' and model_id not in (select model_id from live_models)",
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}
