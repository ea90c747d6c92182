//! Finished molecules in Postgres, per model, waiting to be handed out.
//!
//! A row is a block of some hundred molecules. A sample takes whole blocks, and what it does not need of the
//! last one goes back, inside the transaction that stores the sample: so a molecule is handed out once, and an
//! attempt that fails hands out nothing. Blocks that another sample is taking are passed over, not waited for.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::resources::{Model, Models};

/// Molecules of a full block.
pub const BLOCK: usize = 500;
/// Whole blocks for which one more is taken at once: a sample of so many has some molecules twice.
const BLOCKS_A_SPARE: usize = 20;

/// How old the blocks of a model get that no sampler has: one that comes back finds them until then.
const ORPHANED: Duration = Duration::from_secs(24 * 3600);

/// A block, taken out.
struct Block {
    smiles: String,
}

/// Takes up to `size` distinct molecules of `model` out of the reservoir, in no order.
///
/// # Errors
/// Fails when the database does.
pub async fn take(
    connection: &mut PgConnection,
    model: &Model,
    size: usize,
) -> Result<Vec<String>, sqlx::Error> {
    let mut taken = HashSet::new();
    while taken.len() < size {
        let count = (size - taken.len()).div_ceil(BLOCK);
        let blocks = take_blocks(connection, model, count + count / BLOCKS_A_SPARE).await?;
        if blocks.is_empty() {
            break;
        }
        let mut molecules = blocks.iter().flat_map(|block| block.smiles.split('\n')).map(str::to_owned);
        while taken.len() < size
            && let Some(smiles) = molecules.next()
        {
            taken.insert(smiles);
        }
        let left: Vec<String> = molecules.collect();
        put(connection, model, &left).await?;
    }
    Ok(taken.into_iter().collect())
}

async fn take_blocks(
    connection: &mut PgConnection,
    model: &Model,
    count: usize,
) -> Result<Vec<Block>, sqlx::Error> {
    sqlx::query_as!(
        Block,
        "with oldest as (
            select id from reservoir_blocks
            where model_id = $1 and model_version = $2
            order by id limit $3
            for update skip locked
        )
        delete from reservoir_blocks using oldest where reservoir_blocks.id = oldest.id returning smiles",
        model.id(),
        &model.version,
        i64::try_from(count).unwrap_or(i64::MAX)
    )
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
        sqlx::query!(
            "insert into reservoir_blocks (model_id, model_version, smiles, molecules) values ($1, $2, $3, $4)",
            model.id(),
            &model.version,
            block.join("\n"),
            i32::try_from(block.len()).unwrap_or(i32::MAX)
        )
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
    let rows = sqlx::query!(
        r#"select model_id, model_version, sum(molecules) as "molecules!" from reservoir_blocks group by 1, 2"#
    )
    .fetch_all(database)
    .await?;
    let levels = rows.into_iter().map(|row| {
        let molecules = usize::try_from(row.molecules).unwrap_or(0);
        ((row.model_id, row.model_version), molecules)
    });
    Ok(Levels(levels.collect()))
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

impl Models {
    /// The model called `id`; where none is named, as jobs of earlier versions do, the one with the most molecules ready, and
    /// of those with as many the cheapest, then the first by id.
    #[must_use]
    pub fn choose(&self, id: Option<&str>, levels: &Levels) -> Option<&Arc<Model>> {
        match id {
            Some(id) => self.get(id),
            None => self.iter().min_by(|a, b| {
                let fuller = levels.of(b).cmp(&levels.of(a));
                fuller.then(a.relative_cost().total_cmp(&b.relative_cost()))
            }),
        }
    }
}

/// Drops the blocks that older versions of `model` left.
///
/// # Errors
/// Fails when the database does.
pub async fn drop_other_versions(pool: &PgPool, model: &Model) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from reservoir_blocks where model_id = $1 and model_version <> $2",
        model.id(),
        &model.version
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Drops the blocks of models that no sampler has, once they are old.
///
/// # Errors
/// Fails when the database does.
pub async fn drop_orphans(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let known = queue::known_models(pool).await?;
    let done = sqlx::query!(
        "delete from reservoir_blocks where created_at < now() - make_interval(secs => $1) and model_id <> all($2)",
        ORPHANED.as_secs_f64(),
        &known
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}
