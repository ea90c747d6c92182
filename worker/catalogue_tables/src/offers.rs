//! Offers for the building blocks of an answer.

use std::cmp::Ordering;

use catalogue::shipping_exclusions;
use chrono::{DateTime, Utc};
use contract::{Country, PricingAnnotation};
use sqlx::PgPool;

use crate::VendorRules;

struct Row {
    building_block_id: i32,
    full_canonical: String,
    smiles: String,
    minor_components: String,
    full_mw: f64,
    name: String,
    cs_id: String,
    cs_prefix: String,
    cs_url: String,
    pack: Option<f64>,
    uom: Option<String>,
    price_usd: Option<f64>,
    normalised_usd: Option<f64>,
    api_timestamp: DateTime<Utc>,
    lead_time_days_to_us: Option<f64>,
    lead_time_days_to_ca: Option<f64>,
    lead_time_days_to_gb: Option<f64>,
    lead_time_days_to_fr: Option<f64>,
    lead_time_days_to_ch: Option<f64>,
    lead_time_days_to_de: Option<f64>,
    lead_time_days_to_cn: Option<f64>,
    lead_time_days_to_au: Option<f64>,
    amount: Option<f64>,
    amount_uom: Option<String>,
    amount_grams: Option<f64>,
    location: Option<String>,
    is_private: bool,
    offer_id: i64,
}

impl Row {
    /// Orders by building block, then USD per gram with unknown ones last, then vendor, entry and pack.
    fn order(&self, other: &Self) -> Ordering {
        let unknown_last = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        self.building_block_id
            .cmp(&other.building_block_id)
            .then_with(|| unknown_last(self.normalised_usd, other.normalised_usd))
            .then_with(|| self.name.cmp(&other.name))
            .then_with(|| self.cs_id.cmp(&other.cs_id))
            .then_with(|| unknown_last(self.pack, other.pack))
            .then_with(|| self.uom.cmp(&other.uom))
            .then_with(|| self.offer_id.cmp(&other.offer_id))
    }
}

/// Offers for some building blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offers {
    /// Offers sorted by building block, then USD per gram with unknown ones last, then vendor, entry and pack.
    pub annotations: Vec<PricingAnnotation>,
    /// Offers among them that need not be bought.
    pub own: Vec<OwnStock>,
}

/// Offer from the company's own stock: of a private vendor that states the amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnStock {
    /// Index among the annotations.
    pub at: usize,
    /// Available grams of the building block.
    pub grams: f64,
}

/// Returns the offers for the building blocks on these `terms` that ship to `ships_to`, or to any country if it is
/// `None`.
///
/// # Errors
/// Fails on a database error.
pub async fn offers_for(
    pool: &PgPool,
    building_blocks: &[i32],
    ships_to: Option<Country>,
    terms: &VendorRules,
) -> Result<Offers, sqlx::Error> {
    // Each block is looked up once, not once per offer. Text is sorted here, as bytes: sorting by the database's
    // locale took a third of the time.
    let mut rows = sqlx::query_as!(
        Row,
        "select
            offers.building_block_id, full_canonical, smiles, minor_components, full_mw, name, cs_id, cs_prefix,
            cs_url, pack, uom, price_usd, normalised_usd, api_timestamp,
            lead_time_days_to_us, lead_time_days_to_ca, lead_time_days_to_gb, lead_time_days_to_fr,
            lead_time_days_to_ch, lead_time_days_to_de, lead_time_days_to_cn, lead_time_days_to_au,
            amount, amount_uom, amount_grams, location, is_private,
            offers.id as offer_id
        from unnest($1::int[]) wanted
            join building_blocks on building_blocks.id = wanted
            join offers on offers.building_block_id = wanted
            join vendors on vendors.id = vendor_id
        where case when $2::int is null then refuses <> 255 else refuses >> $2 & 1 = 0 end
            and (not is_private or vendor_id = any($3))
            and ($4::int[] is null or vendor_id = any($4))
            and vendor_id <> all($5)",
        building_blocks,
        ships_to.and_then(|country| shipping_exclusions::bit(country.code())),
        &terms.shown,
        terms.only.as_deref(),
        &terms.never
    )
    .fetch_all(pool)
    .await?;
    rows.sort_unstable_by(Row::order);
    let own = rows.iter().enumerate().filter_map(|(at, row)| {
        let grams = row.amount_grams.filter(|&grams| row.is_private && grams > 0.0)?;
        Some(OwnStock { at, grams })
    });
    let own = own.collect();
    Ok(Offers { annotations: rows.into_iter().map(annotation).collect(), own })
}

/// Most offers whose first entries are read: a short text matches the whole catalogue. An entry has a few offers, one
/// per pack.
const MAX_ENTRIES: i64 = 10_000;

/// Returns the canonical SMILES of the first `most` building blocks with a vendor's catalogue number that begins with
/// `text`, ignoring case, sorted by number; on these `terms`, and only those that ship to `ships_to`.
///
/// # Errors
/// Fails on a database error.
pub async fn entries(
    pool: &PgPool,
    text: &str,
    most: usize,
    ships_to: Option<Country>,
    terms: &VendorRules,
) -> Result<Vec<String>, sqlx::Error> {
    // The range from the text to the last string with this prefix, as bytes, matches the order of the index; `like`
    // with an argument does not.
    sqlx::query_scalar!(
        r#"select smiles as "smiles!" from (
            select building_block_id, lower(cs_id) as number
            from offers join vendors on vendors.id = vendor_id
            where lower(cs_id) ~>=~ lower($1) and lower(cs_id) ~<~ (lower($1) || chr(1114111))
                and case when $2::int is null then refuses <> 255 else refuses >> $2 & 1 = 0 end
                and (not is_private or vendor_id = any($3))
                and ($4::int[] is null or vendor_id = any($4))
                and vendor_id <> all($5)
            order by lower(cs_id) using ~<~
            limit $6
        ) found
            join building_blocks on building_blocks.id = building_block_id
        group by building_blocks.id, smiles
        order by min(number collate "C"), building_blocks.id
        limit $7"#,
        text,
        ships_to.and_then(|country| shipping_exclusions::bit(country.code())),
        &terms.shown,
        terms.only.as_deref(),
        &terms.never,
        MAX_ENTRIES,
        most as i64
    )
    .fetch_all(pool)
    .await
}

fn annotation(row: Row) -> PricingAnnotation {
    PricingAnnotation {
        major_component_id: row.building_block_id,
        full_canonical: row.full_canonical,
        major_component: row.smiles,
        minor_components: row.minor_components,
        mw: row.full_mw,
        vendor_name: row.name,
        cs_id: row.cs_id,
        cs_prefix: row.cs_prefix,
        cs_url: row.cs_url,
        pack: row.pack,
        uom: row.uom,
        price_usd: row.price_usd,
        normalised_usd: row.normalised_usd,
        api_timestamp: row.api_timestamp,
        lead_time_days_to_US: row.lead_time_days_to_us,
        lead_time_days_to_CA: row.lead_time_days_to_ca,
        lead_time_days_to_GB: row.lead_time_days_to_gb,
        lead_time_days_to_FR: row.lead_time_days_to_fr,
        lead_time_days_to_CH: row.lead_time_days_to_ch,
        lead_time_days_to_DE: row.lead_time_days_to_de,
        lead_time_days_to_CN: row.lead_time_days_to_cn,
        lead_time_days_to_AU: row.lead_time_days_to_au,
        amount_in_stock: row.amount,
        amount_in_stock_uom: row.amount_uom,
        location: row.location,
    }
}
