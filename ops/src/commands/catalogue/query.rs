//! `retort catalogue search`, `show`, `export` and `verify`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use anyhow::{Context as _, anyhow};
use catalogue_tables::{
    export, load,
    query::{self, BlockMatch, BlockOffer, BlockQuery, PastPrice},
    verify,
};
use chrono::SecondsFormat;
use clap::Args;
use flate2::{Compression, write::GzEncoder};

use crate::{
    InstallationArgs,
    catalogue::{
        stock_list::{self, StockFormat},
        vendors,
    },
    failure::Failure,
    terminal,
};

/// Search for building blocks: number, SMILES, molecular weight, offers, the best USD per gram, and the similarity if
/// requested.
///
/// By default the block under which the SMILES is sold (a salt's parent). The offers of all vendors count, private
/// ones too.
#[derive(Debug, Args)]
pub struct SearchOffersArgs {
    /// SMILES, or SMARTS with --substructure.
    structure: String,
    /// Similar blocks, the most similar first: Tanimoto similarity, Morgan fingerprint of radius 2.
    #[arg(long, conflicts_with = "substructure")]
    similar: bool,
    /// Minimum similarity, 0 to 1.
    #[arg(long, value_name = "SIMILARITY", default_value_t = 0.5, requires = "similar", value_parser = parse_similarity)]
    least: f32,
    /// Blocks that contain the pattern, the lightest first.
    #[arg(long)]
    substructure: bool,
    /// Maximum number of results.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
}

/// Show a building block with all its offers, the cheapest first: vendor, entry, pack, USD, USD per gram and, if the
/// vendor states it, the stock and its location.
#[derive(Debug, Args)]
pub struct ShowOffersArgs {
    /// Number or SMILES of the block.
    building_block: String,
    /// Also show earlier prices, each with the time of the vendor's statement and of the import that replaced it.
    #[arg(long)]
    history: bool,
}

/// Write the offers as CSV, in the columns that an import reads, or the building blocks as a stock of another planner.
#[derive(Debug, Args)]
pub struct Export {
    /// Only the offers of this vendor.
    #[arg(long, value_name = "NAME")]
    vendor: Option<String>,
    /// Write the building blocks of all vendors in this format.
    #[arg(long, value_enum, conflicts_with = "vendor")]
    stock: Option<StockFormat>,
    /// Output file; standard output by default.
    #[arg(value_name = "FILE[.gz]")]
    file: Option<PathBuf>,
}

/// Check that every building block can be parsed, has today's canonical SMILES, and has an offer.
#[derive(Debug, Args)]
pub struct Verify {
    /// Remove the building blocks that nobody offers.
    #[arg(long)]
    repair: bool,
}

impl SearchOffersArgs {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let query = BlockQuery::read(&self.structure, self.similar.then_some(self.least), self.substructure)?;
        let mut database = installation.data().connect().await?;
        let matches = query::search(&mut database, &query, self.limit).await?;
        matches.iter().try_for_each(|block| terminal::data(&to_line(block)))?;
        if matches.is_empty() { Err(anyhow!("no such building block").into()) } else { Ok(()) }
    }
}

fn to_line(block: &BlockMatch) -> String {
    let price = block.usd_per_gram.map_or_else(String::new, |usd| format!("{usd:.4}"));
    let similarity = block.similarity.map_or_else(String::new, |similarity| format!("\t{similarity:.3}"));
    format!("{}\t{}\t{:.2}\t{}\t{price}{similarity}", block.id, block.smiles, block.mw, block.offers)
}

impl ShowOffersArgs {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let query = match self.building_block.parse::<i32>() {
            Ok(id) => BlockQuery::Number(id),
            Err(_) => BlockQuery::read(&self.building_block, None, false)?,
        };
        let mut database = installation.data().connect().await?;
        let matches = query::search(&mut database, &query, 1).await?;
        let block = matches.first().ok_or_else(|| anyhow!("no such building block"))?;
        terminal::data(&to_line(block))?;
        for offer in query::offers(&mut database, block.id).await? {
            terminal::data(&offer_line(&offer))?;
        }
        if self.history {
            for price in query::past_prices(&mut database, block.id).await? {
                terminal::data(&price_line(&price))?;
            }
        }
        Ok(())
    }
}

fn offer_line(offer: &BlockOffer) -> String {
    let BlockOffer { vendor_name, cs_id, .. } = offer;
    let [price, per_gram] = [offer.price_usd, offer.normalised_usd].map(number);
    let line = format!("  {vendor_name}\t{cs_id}\t{}\t{price}\t{per_gram}", pack(offer.pack, &offer.uom));
    if offer.amount.is_none() && offer.location.is_none() {
        return line;
    }
    let location = offer.location.as_deref().unwrap_or_default();
    format!("{line}\t{}\t{location}", pack(offer.amount, &offer.amount_uom))
}

fn price_line(past: &PastPrice) -> String {
    let PastPrice { vendor_name, cs_id, .. } = past;
    let [price, per_gram] = [past.price_usd, past.normalised_usd].map(number);
    let [said, until] =
        [past.said_at, past.until].map(|time| time.to_rfc3339_opts(SecondsFormat::Secs, true));
    format!("  {vendor_name}\t{cs_id}\t{}\t{price}\t{per_gram}\t{said}\t{until}", pack(past.pack, &past.uom))
}

fn pack(size: Option<f64>, unit: &Option<String>) -> String {
    format!("{} {}", number(size), unit.as_deref().unwrap_or_default())
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

impl Export {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let Some(path) = &self.file else {
            self.write(installation, &mut io::stdout().lock()).await?;
            return Ok(());
        };
        let writing = || format!("writing {}", path.display());
        let mut file = File::create(path).with_context(writing)?;
        let written = if path.extension().is_some_and(|ending| ending == "gz") {
            let mut packed = GzEncoder::new(file, Compression::default());
            let written = self.write(installation, &mut packed).await?;
            packed.finish().and_then(|mut file| file.flush()).with_context(writing)?;
            written
        } else {
            self.write(installation, &mut file).await?
        };
        terminal::note(&format!("{written} written to {}", path.display()));
        Ok(())
    }

    /// Writes what is asked for, and returns its number in words.
    async fn write(&self, installation: &InstallationArgs, file: &mut impl Write) -> Result<String, Failure> {
        let mut database = installation.data().connect().await?;
        let Some(format) = self.stock else {
            let written = export::export(&mut database, self.vendor.as_deref(), file).await?;
            return Ok(format!("{written} offers"));
        };
        let blocks = load::structures(&mut database).await?;
        let counts = stock_list::write(format, blocks, BufWriter::new(file)).context("writing the stock")?;
        if counts.left_out > 0 {
            terminal::note(&format!("left out: {} × no InChIKey", counts.left_out));
        }
        Ok(format!("{} building blocks", counts.written))
    }
}

impl Verify {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        if self.repair {
            let removed = vendors::remove_orphans(&mut database).await?;
            for (id, smiles) in &removed {
                terminal::data(&format!("#{id}\t{smiles}\twas offered by nobody and is removed"))?;
            }
            terminal::note(&format!("{} building blocks removed", removed.len()));
        }
        let bar = terminal::spinner("checking the building blocks");
        let faults = verify::verify(&mut database, |count| bar.inc(count)).await?;
        let checked = bar.position();
        bar.finish_and_clear();
        for fault in &faults {
            terminal::data(&format!("#{}\t{}\t{}", fault.id, fault.smiles, fault.what))?;
        }
        terminal::note(&format!("{checked} building blocks, {} with a fault", faults.len()));
        if faults.is_empty() { Ok(()) } else { Err(anyhow!("the catalogue has faults").into()) }
    }
}

fn parse_similarity(text: &str) -> Result<f32, String> {
    let similarity: f32 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&similarity) { Ok(similarity) } else { Err("must be from 0 to 1".to_owned()) }
}
