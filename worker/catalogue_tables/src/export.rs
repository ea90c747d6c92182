//! Export of the catalogue, or of one vendor's offers, in the columns that an import reads.

use std::io::Write;

use anyhow::Context as _;
use catalogue::{COUNTRIES, shipping_exclusions};
use chrono::{DateTime, SecondsFormat, Utc};
use contract::Country;
use futures::TryStreamExt as _;
use sqlx::PgConnection;

use crate::CatalogueError;

struct Row {
    full_canonical: String,
    name: String,
    cs_id: String,
    cs_prefix: String,
    cs_url: String,
    pack: Option<f64>,
    uom: Option<String>,
    price_usd: Option<f64>,
    normalised_usd: Option<f64>,
    amount: Option<f64>,
    amount_uom: Option<String>,
    amount_grams: Option<f64>,
    location: Option<String>,
    api_timestamp: DateTime<Utc>,
    refuses: i16,
    lead_time_days: Vec<Option<f64>>,
}

/// Writes offers as comma separated values, by vendor, entry and pack; returns their number.
///
/// # Errors
/// Fails if the database or `file` does.
pub async fn export(
    database: &mut PgConnection,
    vendor: Option<&str>,
    file: impl Write,
) -> Result<u64, CatalogueError> {
    let failed = CatalogueError::of("reading the catalogue");
    let mut file = csv::Writer::from_writer(file);
    let writing = || "writing the offers".to_owned();
    let columns =
        ["full_canonical", "vendor_name", "cs_id", "cs_prefix", "cs_url", "pack", "uom", "price_usd"];
    let lead_times = Country::ALL.map(|country| format!("lead_time_days_to_{}", country.code()));
    let more =
        ["normalised_usd", "amount", "amount_unit", "amount_grams", "location", "api_timestamp", "ships_to"];
    let header = columns.into_iter().chain(more).map(str::to_owned).chain(lead_times);
    file.write_record(header).with_context(writing)?;
    let mut rows = sqlx::query_as!(
        Row,
        r#"select full_canonical, name, cs_id, cs_prefix, cs_url, pack, uom, price_usd, normalised_usd, amount, amount_uom,
            amount_grams, location, api_timestamp, refuses,
            array[lead_time_days_to_us, lead_time_days_to_ca, lead_time_days_to_gb, lead_time_days_to_fr,
                lead_time_days_to_ch, lead_time_days_to_de, lead_time_days_to_cn, lead_time_days_to_au
            ] as "lead_time_days!: Vec<Option<f64>>"
         from offers join vendors on vendors.id = vendor_id
         where $1::text is null or name = $1
         order by vendor_id, cs_id, coalesce(pack, -1), coalesce(uom, '')"#,
        vendor
    )
    .fetch(database);
    let mut written = 0;
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let fields =
            [row.full_canonical, row.name, row.cs_id, row.cs_prefix, row.cs_url].into_iter().chain([
                number(row.pack),
                row.uom.unwrap_or_default(),
                number(row.price_usd),
                number(row.normalised_usd),
                number(row.amount),
                row.amount_uom.unwrap_or_default(),
                number(row.amount_grams),
                row.location.unwrap_or_default(),
                row.api_timestamp.to_rfc3339_opts(SecondsFormat::Micros, true),
                ships_to(row.refuses),
            ]);
        file.write_record(fields.chain(row.lead_time_days.into_iter().map(number))).with_context(writing)?;
        written += 1;
    }
    file.flush().with_context(writing)?;
    Ok(written)
}

/// Countries that an offer ships to; empty if no country is excluded.
fn ships_to(refuses: i16) -> String {
    if refuses == 0 {
        return String::new();
    }
    let countries = COUNTRIES.into_iter().zip(shipping_exclusions::of_bits(refuses));
    let codes: Vec<&str> = countries.filter(|(_, refuses)| !refuses).map(|(code, _)| code).collect();
    if codes.is_empty() { "none".to_owned() } else { codes.join(" ") }
}
