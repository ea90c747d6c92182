//! Catalogue queries: its content, building blocks by structure, similarity or substructure, and one block with all
//! its offers.

use anyhow::anyhow;
use chem::{Fingerprint, Limits, Molecule, Pattern};
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use rayon::prelude::*;
use sqlx::PgConnection;

use super::vendors::{self, Vendor};
use crate::CatalogueError;

/// Blocks compared together: enough for every core.
const PART: usize = 8_192;

/// Content of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueInfo {
    /// Building blocks.
    pub building_blocks: i64,
    /// Building blocks with a price per gram from some vendor.
    pub priced_building_blocks: i64,
    /// Vendors, by name.
    pub vendors: Vec<Vendor>,
}

/// Counts the content of the catalogue.
pub async fn info(database: &mut PgConnection) -> Result<CatalogueInfo, CatalogueError> {
    let blocks = sqlx::query!(
        r#"select (select count(*) from building_blocks) as "all!",
            (select count(distinct building_block_id) from offers where normalised_usd is not null) as "priced!""#
    )
    .fetch_one(&mut *database)
    .await
    .map_err(failed)?;
    let vendors = vendors::list(database).await?;
    Ok(CatalogueInfo { building_blocks: blocks.all, priced_building_blocks: blocks.priced, vendors })
}

/// Query for building blocks.
pub enum BlockQuery {
    /// Block with this number.
    Number(i32),
    /// Block under which a structure is sold.
    Exactly(Molecule),
    /// Blocks with at least this similarity (Tanimoto, Morgan fingerprint of radius 2), the most similar first.
    Similar(Fingerprint, f32),
    /// Blocks that contain a pattern, the lightest first.
    Containing(Pattern),
}

impl BlockQuery {
    /// Parses a SMILES, or a SMARTS for a pattern, to a query.
    ///
    /// # Errors
    /// Fails if the text cannot be parsed.
    pub fn read(text: &str, similar: Option<f32>, is_pattern: bool) -> Result<Self, CatalogueError> {
        if is_pattern {
            let pattern = Pattern::parse(text).map_err(|error| anyhow!("SMARTS `{text}`: {error}"))?;
            return Ok(Self::Containing(pattern));
        }
        let molecule =
            Molecule::parse(text, Limits::DEFAULT).map_err(|error| anyhow!("SMILES `{text}`: {error}"))?;
        let parent = molecule.parent().molecule;
        Ok(match similar {
            Some(least) => Self::Similar(parent.fingerprint(), least),
            None => Self::Exactly(parent),
        })
    }
}

/// A building block in the result.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockMatch {
    /// Catalogue id.
    pub id: i32,
    /// Canonical SMILES.
    pub smiles: String,
    /// Molecular weight, daltons.
    pub mw: f32,
    /// Tanimoto similarity, if requested.
    pub similarity: Option<f32>,
    /// Number of offers.
    pub offers: i64,
    /// USD per gram of the cheapest offer with a known price.
    pub usd_per_gram: Option<f64>,
}

/// The best `most` building blocks that match the query.
pub async fn search(
    database: &mut PgConnection,
    query: &BlockQuery,
    most: usize,
) -> Result<Vec<BlockMatch>, CatalogueError> {
    let matches = match query {
        BlockQuery::Number(id) => vec![(*id, None)],
        BlockQuery::Exactly(molecule) => by_smiles(database, &molecule.canonical_smiles()).await?,
        BlockQuery::Similar(..) | BlockQuery::Containing(_) => scan(database, query, most).await?,
    };
    with_offers(database, matches).await
}

type Scored = (i32, Option<f32>);

async fn by_smiles(database: &mut PgConnection, smiles: &str) -> Result<Vec<Scored>, CatalogueError> {
    let ids = sqlx::query_scalar!("select id from building_blocks where smiles = $1", smiles)
        .fetch_all(database)
        .await
        .map_err(failed)?;
    Ok(ids.into_iter().map(|id| (id, None)).collect())
}

struct CatalogueBlock {
    id: i32,
    smiles: String,
    mw: f32,
    morgan_bits: Vec<u8>,
}

/// Compares every block, a part of them at a time on all cores.
async fn scan(
    database: &mut PgConnection,
    query: &BlockQuery,
    most: usize,
) -> Result<Vec<Scored>, CatalogueError> {
    let blocks = sqlx::query_as!(
        CatalogueBlock,
        "select id, smiles, mw, morgan_bits from building_blocks order by id"
    )
    .fetch(database)
    .try_chunks(PART);
    let mut blocks = std::pin::pin!(blocks);
    let mut best: Vec<(f32, i32)> = Vec::new();
    while let Some(part) = blocks.try_next().await.map_err(|error| failed(error.1))? {
        best.par_extend(part.par_iter().filter_map(|block| Some((score(query, block)?, block.id))));
        best.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.truncate(most);
    }
    let similarity = |score: f32| matches!(query, BlockQuery::Similar(..)).then_some(-score);
    Ok(best.into_iter().map(|(score, id)| (id, similarity(score))).collect())
}

/// Sort key of a block, ascending; `None` if it does not match.
fn score(query: &BlockQuery, block: &CatalogueBlock) -> Option<f32> {
    match query {
        BlockQuery::Similar(fingerprint, least) => {
            let similarity = fingerprint.tanimoto(&Fingerprint::from_bytes(&block.morgan_bits)?);
            (similarity >= *least).then_some(-similarity)
        }
        BlockQuery::Containing(pattern) => {
            let molecule = block.smiles.parse().ok()?;
            pattern.matches(&molecule).then_some(block.mw)
        }
        BlockQuery::Number(_) | BlockQuery::Exactly(_) => None,
    }
}

async fn with_offers(
    database: &mut PgConnection,
    matches: Vec<Scored>,
) -> Result<Vec<BlockMatch>, CatalogueError> {
    let (ids, similarities): (Vec<i32>, Vec<Option<f32>>) = matches.into_iter().unzip();
    let rows = sqlx::query!(
        r#"select building_blocks.id, smiles, mw, count(offers.id) as "offers!", min(normalised_usd) as usd_per_gram
         from unnest($1::int[]) with ordinality as wanted (id, place)
            join building_blocks on building_blocks.id = wanted.id
            left join offers on building_block_id = building_blocks.id
         group by building_blocks.id, place order by place"#,
        &ids
    )
    .fetch_all(database)
    .await
    .map_err(failed)?;
    let matches = rows.into_iter().zip(similarities).map(|(row, similarity)| BlockMatch {
        id: row.id,
        smiles: row.smiles,
        mw: row.mw,
        similarity,
        offers: row.offers,
        usd_per_gram: row.usd_per_gram,
    });
    Ok(matches.collect())
}

/// An offer of a building block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockOffer {
    /// Vendor.
    pub vendor_name: String,
    /// Catalogue number.
    pub cs_id: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size.
    pub uom: Option<String>,
    /// USD for the pack.
    pub price_usd: Option<f64>,
    /// USD per gram of the building block.
    pub normalised_usd: Option<f64>,
    /// Amount in stock.
    pub amount: Option<f64>,
    /// Unit of the amount.
    pub amount_uom: Option<String>,
    /// Storage location.
    pub location: Option<String>,
}

/// Offers of a building block, by ascending price per gram.
pub async fn offers(
    database: &mut PgConnection,
    building_block: i32,
) -> Result<Vec<BlockOffer>, CatalogueError> {
    sqlx::query_as!(
        BlockOffer,
        "select name as vendor_name, cs_id, pack, uom, price_usd, normalised_usd, amount, amount_uom, location
         from offers join vendors on vendors.id = vendor_id
         where building_block_id = $1
         order by normalised_usd nulls last, name, cs_id, pack",
        building_block
    )
    .fetch_all(database)
    .await
    .map_err(failed)
}

/// An earlier price of an offer.
#[derive(Debug, Clone, PartialEq)]
pub struct PastPrice {
    /// Vendor.
    pub vendor_name: String,
    /// Catalogue number.
    pub cs_id: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size.
    pub uom: Option<String>,
    /// USD for the pack; `None` if it had no price.
    pub price_usd: Option<f64>,
    /// USD per gram of the building block.
    pub normalised_usd: Option<f64>,
    /// Time of the vendor's statement.
    pub said_at: DateTime<Utc>,
    /// Time of the import that replaced it.
    pub until: DateTime<Utc>,
}

/// Earlier prices of a building block's offers, by vendor, entry and pack, the latest first.
pub async fn past_prices(
    database: &mut PgConnection,
    building_block: i32,
) -> Result<Vec<PastPrice>, CatalogueError> {
    sqlx::query_as!(
        PastPrice,
        "select name as vendor_name, cs_id, pack, uom, price_usd, normalised_usd, said_at, until
         from offer_prices join vendors on vendors.id = vendor_id
         where building_block_id = $1
         order by name, cs_id, pack, uom, until desc, offer_prices.id desc",
        building_block
    )
    .fetch_all(database)
    .await
    .map_err(failed)
}

fn failed(error: sqlx::Error) -> CatalogueError {
    CatalogueError::of("reading the catalogue")(error)
}
