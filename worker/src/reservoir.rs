//! Reservoir: drawn molecules in Postgres, per model, ready to be handed out.
//!
//! A row is a block of some hundred molecules, and a block is handed out once. A sample takes whole blocks, and
//! returns the unneeded molecules of the last one, inside the transaction that stores the sample. So a failed attempt
//! hands out nothing. A sample that must also draw [leases] the blocks until then, and holds no transaction. Blocks
//! that another sample takes are skipped, not waited for. Blocks are drawn independently of each other: two of them
//! may hold the same molecule.
//!
//! [leases]: lease

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::{
    annotations::{self, Annotation},
    resources::LoadedModel,
};

/// Number of molecules in a full block.
pub const BLOCK_SIZE: usize = 500;
/// Number of blocks per extra block: a sample of this many blocks has some duplicate molecules.
const BLOCKS_PER_EXTRA: usize = 20;

/// Blocks of which a sampler annotates one.
const BLOCKS_TO_CHOOSE: i64 = 16;

/// Retention of the blocks of a model that no sampler offers: until then a returning model finds them.
const UNOFFERED_RETENTION: Duration = Duration::from_secs(24 * 3600);

/// Block that was taken or leased.
struct SampleBlock {
    id: i64,
    smiles: String,
}

impl SampleBlock {
    fn molecules(&self) -> impl Iterator<Item = String> {
        self.smiles.split('\n').map(str::to_owned)
    }
}

/// Distinct molecules from blocks, up to a size.
#[derive(Default)]
struct DistinctMolecules {
    molecules: HashSet<String>,
    /// Unneeded molecules of the last block.
    left: Vec<String>,
}

impl DistinctMolecules {
    /// Returns the number of blocks to read for the molecules missing to `size`.
    fn blocks_to(&self, size: usize) -> i64 {
        let count = size.saturating_sub(self.molecules.len()).div_ceil(BLOCK_SIZE);
        i64::try_from(count + count / BLOCKS_PER_EXTRA).unwrap_or(i64::MAX)
    }

    fn add(&mut self, blocks: &[SampleBlock], size: usize) {
        for molecule in blocks.iter().flat_map(SampleBlock::molecules) {
            match self.molecules.len() < size {
                true => drop(self.molecules.insert(molecule)),
                false => self.left.push(molecule),
            }
        }
    }
}

/// Takes up to `size` distinct molecules of `model` from the reservoir, in no order.
///
/// # Errors
/// Fails on a database error.
pub async fn take(
    connection: &mut PgConnection,
    model: &LoadedModel,
    size: usize,
) -> Result<Vec<String>, sqlx::Error> {
    let mut picked = DistinctMolecules::default();
    while picked.molecules.len() < size {
        let blocks =
            take_blocks(&mut *connection, (model.id(), &model.version), picked.blocks_to(size)).await?;
        if blocks.is_empty() {
            break;
        }
        picked.add(&blocks, size);
    }
    put(connection, model, &picked.left).await?;
    Ok(picked.molecules.into_iter().collect())
}

/// Takes one whole block of this version of a model, if one is free, and returns its molecules.
///
/// # Errors
/// Fails on a database error.
pub async fn take_block(
    pool: &PgPool,
    model_id: &str,
    model_version: &str,
) -> Result<Option<Vec<String>>, sqlx::Error> {
    let blocks = take_blocks(pool, (model_id, model_version), 1).await?;
    Ok(blocks.first().map(|block| block.molecules().collect()))
}

async fn take_blocks(
    database: impl PgExecutor<'_>,
    (model_id, model_version): (&str, &str),
    count: i64,
) -> Result<Vec<SampleBlock>, sqlx::Error> {
    sqlx::query_as!(
        SampleBlock,
        "with oldest as (
            select id from reservoir_blocks
            where model_id = $1 and model_version = $2 and (leased_until is null or leased_until < now())
            order by id limit $3
            for update skip locked
        )
        delete from reservoir_blocks as block using oldest where block.id = oldest.id
        returning block.id, smiles",
        model_id,
        model_version,
        count
    )
    .fetch_all(database)
    .await
}

/// Molecule with its annotation, if it has one.
pub(crate) type AnnotatedMolecule = (String, Option<Annotation>);

/// Blocks that a job has reserved.
#[derive(Debug, Default)]
#[must_use = "what is not spent is given back"]
pub struct Lease {
    holder: String,
    blocks: Vec<i64>,
    /// Unneeded molecules of the blocks.
    left: Vec<String>,
}

impl Lease {
    /// Creates a lease of nothing by the job `holder`.
    pub(crate) fn new(holder: &str) -> Self {
        Self { holder: holder.to_owned(), ..Self::default() }
    }

    /// Adds up to `count` blocks of `model`, for at most `time`, and returns their molecules without annotations.
    pub(crate) async fn extend(
        &mut self,
        pool: &PgPool,
        model: &LoadedModel,
        count: usize,
        time: Duration,
    ) -> Result<Vec<AnnotatedMolecule>, sqlx::Error> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let blocks = lease_blocks(pool, model, count, &self.holder, time).await?;
        self.blocks.extend(blocks.iter().map(|block| block.id));
        Ok(blocks.iter().flat_map(SampleBlock::molecules).map(|smiles| (smiles, None)).collect())
    }

    /// Adds up to `count` blocks of `model`, annotated ones first, for at most `time`, and returns their molecules.
    pub(crate) async fn extend_annotated(
        &mut self,
        pool: &PgPool,
        model: &LoadedModel,
        count: usize,
        time: Duration,
    ) -> Result<Vec<AnnotatedMolecule>, sqlx::Error> {
        let blocks = sqlx::query!(
            "with annotated as (
                select id from reservoir_blocks
                where model_id = $1 and model_version = $2 and (leased_until is null or leased_until < now())
                order by annotation_version = $3 desc nulls last, id limit $4
                for update skip locked
            )
            update reservoir_blocks as block set leased_by = $5, leased_until = now() + make_interval(secs => $6)
            from annotated where block.id = annotated.id
            returning block.id, smiles, case when annotation_version = $3 then annotations end as annotations",
            model.id(),
            &model.version,
            annotations::VERSION,
            i64::try_from(count).unwrap_or(i64::MAX),
            &self.holder,
            time.as_secs_f64()
        )
        .fetch_all(pool)
        .await?;
        self.blocks.extend(blocks.iter().map(|block| block.id));
        let molecules = blocks.iter().flat_map(|block| {
            let mut known = annotations::decode(block.annotations.as_deref().unwrap_or_default());
            block.smiles.split('\n').map(move |smiles| (smiles.to_owned(), known.next()))
        });
        Ok(molecules.collect())
    }

    /// Marks molecules of the blocks as unneeded.
    pub(crate) fn leave(&mut self, molecules: impl IntoIterator<Item = String>) {
        self.left.extend(molecules);
    }
}

/// Leases up to `size` distinct molecules of `model`, in no order, to the job `holder`, for at most `time`.
///
/// # Errors
/// Fails on a database error; what was leased until then becomes free when its time ends.
pub async fn lease(
    pool: &PgPool,
    model: &LoadedModel,
    size: usize,
    holder: &str,
    time: Duration,
) -> Result<(Vec<String>, Lease), sqlx::Error> {
    let (mut picked, mut lease) = (DistinctMolecules::default(), Lease::new(holder));
    while picked.molecules.len() < size {
        let blocks = lease_blocks(pool, model, picked.blocks_to(size), holder, time).await?;
        if blocks.is_empty() {
            break;
        }
        lease.blocks.extend(blocks.iter().map(|block| block.id));
        picked.add(&blocks, size);
    }
    lease.leave(picked.left);
    Ok((picked.molecules.into_iter().collect(), lease))
}

async fn lease_blocks(
    pool: &PgPool,
    model: &LoadedModel,
    count: i64,
    holder: &str,
    time: Duration,
) -> Result<Vec<SampleBlock>, sqlx::Error> {
    sqlx::query_as!(
        SampleBlock,
        "with oldest as (
            select id from reservoir_blocks
            where model_id = $1 and model_version = $2 and (leased_until is null or leased_until < now())
            order by id limit $3
            for update skip locked
        )
        update reservoir_blocks as block set leased_by = $4, leased_until = now() + make_interval(secs => $5)
        from oldest where block.id = oldest.id
        returning block.id, smiles",
        model.id(),
        &model.version,
        count,
        holder,
        time.as_secs_f64()
    )
    .fetch_all(pool)
    .await
}

/// Removes the leased blocks and returns their unneeded molecules to the reservoir. False if the lease of a block has
/// expired: the block may be in another sample, and the transaction must not commit.
///
/// # Errors
/// Fails on a database error.
pub async fn spend(
    connection: &mut PgConnection,
    model: &LoadedModel,
    lease: &Lease,
) -> Result<bool, sqlx::Error> {
    if lease.blocks.is_empty() {
        return Ok(true);
    }
    let done = sqlx::query!(
        "delete from reservoir_blocks where id = any($1) and leased_by = $2",
        &lease.blocks,
        &lease.holder
    )
    .execute(&mut *connection)
    .await?;
    put(connection, model, &lease.left).await?;
    Ok(usize::try_from(done.rows_affected()) == Ok(lease.blocks.len()))
}

/// Ends the lease: its blocks are available to others immediately.
///
/// # Errors
/// Fails on a database error.
pub async fn release_lease(pool: &PgPool, lease: &Lease) -> Result<(), sqlx::Error> {
    if lease.blocks.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "update reservoir_blocks set leased_by = null, leased_until = null where id = any($1) and leased_by = $2",
        &lease.blocks,
        &lease.holder
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Puts distinct molecules of `model` into the reservoir, in blocks.
///
/// # Errors
/// Fails on a database error.
pub async fn put(
    connection: &mut PgConnection,
    model: &LoadedModel,
    molecules: &[String],
) -> Result<(), sqlx::Error> {
    for block in molecules.chunks(BLOCK_SIZE) {
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

/// Returns the id and the molecules of a block of `model` to annotate next; `None` if `most` of its molecules have
/// annotations, or all. Samples take old blocks first, so the newest ones are annotated: one of a few, since several
/// samplers may ask.
///
/// # Errors
/// Fails on a database error.
pub async fn block_to_annotate(
    pool: &PgPool,
    model: &LoadedModel,
    most: usize,
) -> Result<Option<(i64, Vec<String>)>, sqlx::Error> {
    let block = sqlx::query_as!(
        SampleBlock,
        "with free as (
            select id, molecules, annotation_version is not distinct from $3 as annotated from reservoir_blocks
            where model_id = $1 and model_version = $2 and (leased_until is null or leased_until < now())
        ), newest as (
            select id from free
            where not annotated and (select coalesce(sum(molecules), 0) from free where annotated) < $4
            order by id desc limit $5
        )
        select id, smiles from reservoir_blocks
        where id = (select id from newest order by random() limit 1)",
        model.id(),
        &model.version,
        annotations::VERSION,
        i64::try_from(most).unwrap_or(i64::MAX),
        BLOCKS_TO_CHOOSE
    )
    .fetch_optional(pool)
    .await?;
    Ok(block.map(|block| (block.id, block.molecules().collect())))
}

/// Stores the annotations of a block's molecules, if it is still there.
///
/// # Errors
/// Fails on a database error.
pub async fn annotate(pool: &PgPool, id: i64, found: &[Annotation]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update reservoir_blocks set annotation_version = $2, annotations = $3 where id = $1",
        id,
        annotations::VERSION,
        annotations::encode(found)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Counts the molecules that no job has leased, by model and version.
///
/// # Errors
/// Fails on a database error.
pub async fn levels(database: impl PgExecutor<'_>) -> Result<Levels, sqlx::Error> {
    let rows = sqlx::query_as!(
        Level,
        r#"select model_id, model_version, sum(molecules) as "molecules!" from reservoir_blocks
        where leased_until is null or leased_until < now() group by 1, 2"#
    )
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().collect())
}

/// Number of ready molecules of this version of a model, as a query counts them.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) model_id: String,
    pub(crate) model_version: String,
    pub(crate) molecules: i64,
}

/// Numbers of ready molecules.
#[derive(Debug)]
pub struct Levels(BTreeMap<(String, String), usize>);

impl FromIterator<Level> for Levels {
    fn from_iter<I: IntoIterator<Item = Level>>(levels: I) -> Self {
        let levels = levels.into_iter().map(|level| {
            let molecules = usize::try_from(level.molecules).unwrap_or(0);
            ((level.model_id, level.model_version), molecules)
        });
        Self(levels.collect())
    }
}

impl Levels {
    /// Returns the id, the version and the number of ready molecules of each model that has any.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.0.iter().map(|((id, version), &molecules)| (id.as_str(), version.as_str(), molecules))
    }

    /// Returns the number of ready molecules of this version of a model.
    pub(crate) fn of_version(&self, model_id: &str, model_version: &str) -> usize {
        self.0.get(&(model_id.to_owned(), model_version.to_owned())).copied().unwrap_or(0)
    }

    /// Returns the number of ready molecules of `model`.
    #[must_use]
    pub fn of(&self, model: &LoadedModel) -> usize {
        self.of_version(model.id(), &model.version)
    }
}

/// Deletes the blocks of older versions of `model`.
///
/// # Errors
/// Fails on a database error.
pub async fn drop_other_versions(pool: &PgPool, model: &LoadedModel) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from reservoir_blocks where model_id = $1 and model_version <> $2",
        model.id(),
        &model.version
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Updates the time for which each model has had no sampler that offers it. It is zero for those in `offered`. For
/// the others it grows by the time since any sampler last counted, but at most by `longest`. So models do not age
/// while samplers, or the whole machine, are off.
///
/// # Errors
/// Fails on a database error.
pub async fn count_unoffered(
    pool: &PgPool,
    offered: &[String],
    longest: Duration,
) -> Result<(), sqlx::Error> {
    // Sorted, so that samplers that count at the same time cannot deadlock.
    sqlx::query!(
        "insert into reservoir_models (model_id)
        select unnest($1::text[]) union select model_id from reservoir_blocks order by 1
        on conflict (model_id) do update set
            unoffered_seconds = case
                when excluded.model_id = any($1) then 0
                else reservoir_models.unoffered_seconds
                    + least(extract(epoch from now() - reservoir_models.counted_at)::float8, $2)
            end,
            counted_at = now()",
        offered,
        longest.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Deletes the blocks of models that have not been offered for a day, as [`count_unoffered`] counts, and returns
/// their number.
///
/// # Errors
/// Fails on a database error.
pub async fn drop_unoffered(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "with forgotten as (delete from reservoir_models where unoffered_seconds > $1 returning model_id)
        delete from reservoir_blocks using forgotten where reservoir_blocks.model_id = forgotten.model_id",
        UNOFFERED_RETENTION.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}
