//! Preview of an import: staged offers compared with the loaded catalogue, or with other staged offers.
//!
//! PostgreSQL sorts both sides, because it has the space, and returns them as one stream. The offers of one entry are
//! compared here, so that memory does not depend on the number of offers. If one pack of an entry is gone and one is
//! new, they count as the same offer in another pack.
//!
//! Statements with a temporary table are not checked at compile time, because no migration creates it.

use catalogue::{COUNTRIES, shipping_exclusions};
use futures::TryStreamExt as _;
use serde::Serialize;
use sqlx::{AssertSqlSafe, FromRow, PgConnection};

use crate::{CatalogueError, load, structure_changes};

/// Base of the comparison.
#[derive(Debug, Clone, Copy)]
pub enum DiffBase<'a> {
    /// Loaded offers of the staged vendors, and of this one.
    Loaded(Option<&'a str>),
    /// Offers that were staged first, and set aside by [`set_aside`].
    SetAside,
}

/// Kind of change of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The offer is new.
    New,
    /// The offer is gone.
    Gone,
    /// A fact of the offer has changed.
    Changed,
}

/// One changed fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Kind of change of the offer.
    pub change: ChangeKind,
    /// Vendor.
    pub vendor_name: String,
    /// Catalogue number.
    pub cs_id: String,
    /// Pack: the new one, or that of an offer that is gone.
    pub pack: String,
    /// Canonical SMILES of the whole entry.
    pub full_canonical: String,
    /// Name of the changed fact; the price for an offer that is new or gone.
    pub what: String,
    /// Old value; empty if it was not stated.
    pub before: String,
    /// New value.
    pub after: String,
}

/// Numbers of offers by kind of change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DifferenceCounts {
    /// New offers.
    pub new: u64,
    /// Offers that are gone.
    pub gone: u64,
    /// Offers with a changed fact.
    pub changed: u64,
    /// Unchanged offers.
    pub same: u64,
}

/// An offer of one side of the comparison.
#[derive(Debug, Clone, Default, PartialEq, FromRow)]
struct Offer {
    is_after: bool,
    vendor_name: String,
    cs_id: String,
    pack: Option<f64>,
    uom: Option<String>,
    full_canonical: String,
    price_usd: Option<f64>,
    normalised_usd: Option<f64>,
    amount: Option<f64>,
    amount_uom: Option<String>,
    location: Option<String>,
    refuses: i16,
    lead_time_days: Vec<Option<f64>>,
}

/// Sets the staged offers aside as the older ones, and begins with an empty temporary table.
///
/// # Errors
/// Fails if the database does.
pub async fn set_aside(connection: &mut PgConnection) -> Result<(), CatalogueError> {
    let failed = CatalogueError::of("comparing the offers");
    let rename = "alter table staged rename to staged_before";
    sqlx::query(rename).execute(&mut *connection).await.map_err(failed)?;
    load::create_staging_table(connection).await.map_err(failed)
}

/// Compares the staged offers with `before` and passes each difference to `report`, by vendor, entry and pack.
///
/// # Errors
/// Fails if the database does, or if `report` does.
pub async fn difference<E: From<CatalogueError>>(
    connection: &mut PgConnection,
    before: DiffBase<'_>,
    mut report: impl FnMut(&Difference) -> Result<(), E>,
) -> Result<DifferenceCounts, E> {
    let failed = CatalogueError::of("comparing the offers");
    sqlx::query("analyze staged").execute(&mut *connection).await.map_err(failed)?;
    let statement = statement(before);
    let mut offers = sqlx::query_as::<_, Offer>(AssertSqlSafe(statement));
    if let DiffBase::Loaded(vendor) = before {
        offers = offers.bind(vendor);
    }
    let mut offers = offers.fetch(&mut *connection);
    let (mut counts, mut entry) = (DifferenceCounts::default(), Vec::new());
    while let Some(offer) = offers.try_next().await.map_err(failed)? {
        let is_of_entry =
            |first: &Offer| (&first.vendor_name, &first.cs_id) == (&offer.vendor_name, &offer.cs_id);
        if !entry.first().is_none_or(is_of_entry) {
            counts.add(std::mem::take(&mut entry), &mut report)?;
        }
        entry.push(offer);
    }
    counts.add(entry, &mut report)?;
    Ok(counts)
}

/// Both sides, sorted. For one pack of an entry the last line of the files counts, as in an import.
fn statement(before: DiffBase<'_>) -> String {
    let lead_times: Vec<String> = load::lead_time_columns().collect();
    let columns = format!(
        "pack, uom, full_canonical, price_usd, normalised_usd, amount, amount_uom, location, refuses,
         array[{}] as lead_time_days",
        lead_times.join(", ")
    );
    let of_files = |table: &str| {
        format!(
            "(select distinct on (vendor_name, entry.id, coalesce(pack, -1), coalesce(uom, ''))
                vendor_name, entry.id as cs_id, {columns}
             from {table} {}
             order by vendor_name, entry.id, coalesce(pack, -1), coalesce(uom, ''), line desc)",
            structure_changes::WITH_ENTRY
        )
    };
    let older = match before {
        DiffBase::SetAside => format!("{} as older", of_files("staged_before")),
        DiffBase::Loaded(_) => format!(
            "(select name as vendor_name, cs_id, {columns} from offers join vendors on vendors.id = vendor_id) as older
             where vendor_name = $1 or vendor_name in (select vendor_name from staged)"
        ),
    };
    format!(
        "select false as is_after, older.* from {older}
         union all
         select true, newer.* from {} as newer
         order by vendor_name, cs_id, is_after, pack nulls first, uom",
        of_files("staged")
    )
}

impl DifferenceCounts {
    /// Compares the offers of one entry.
    fn add<E>(
        &mut self,
        entry: Vec<Offer>,
        report: &mut impl FnMut(&Difference) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut after, before): (Vec<Offer>, Vec<Offer>) =
            entry.into_iter().partition(|offer| offer.is_after);
        let (mut pairs, mut removed) = (Vec::new(), Vec::new());
        for offer in before {
            match after.iter().position(|other| (other.pack, &other.uom) == (offer.pack, &offer.uom)) {
                Some(at) => pairs.push((offer, after.remove(at))),
                None => removed.push(offer),
            }
        }
        if let ([_], [_]) = (&removed[..], &after[..]) {
            pairs.extend(removed.drain(..).zip(after.drain(..)));
        }
        for (old, new) in &pairs {
            let facts = facts(old, new);
            *(if facts.is_empty() { &mut self.same } else { &mut self.changed }) += 1;
            facts.iter().try_for_each(|fact| report(&to_difference(new, ChangeKind::Changed, fact)))?;
        }
        for offer in &removed {
            self.gone += 1;
            report(&to_difference(
                offer,
                ChangeKind::Gone,
                &ChangedField::new("price_usd", number(offer.price_usd), String::new()),
            ))?;
        }
        for offer in &after {
            self.new += 1;
            report(&to_difference(
                offer,
                ChangeKind::New,
                &ChangedField::new("price_usd", String::new(), number(offer.price_usd)),
            ))?;
        }
        Ok(())
    }
}

/// Name, old value and new value of a changed fact.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChangedField {
    what: String,
    before: String,
    after: String,
}

impl ChangedField {
    fn new(what: &str, before: String, after: String) -> Self {
        Self { what: what.to_owned(), before, after }
    }
}

/// Facts of an offer that changed. The price per gram is left out if it follows from a changed pack or price.
fn facts(old: &Offer, new: &Offer) -> Vec<ChangedField> {
    let amount = |offer: &Offer| size(offer.amount, &offer.amount_uom);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut facts = vec![
        ChangedField::new("pack", size(old.pack, &old.uom), size(new.pack, &new.uom)),
        ChangedField::new("full_canonical", old.full_canonical.clone(), new.full_canonical.clone()),
        ChangedField::new("price_usd", number(old.price_usd), number(new.price_usd)),
        ChangedField::new("amount", amount(old), amount(new)),
        ChangedField::new("location", text(&old.location), text(&new.location)),
    ];
    if (old.price_usd, old.pack, &old.uom) == (new.price_usd, new.pack, &new.uom) {
        facts.push(ChangedField::new(
            "normalised_usd",
            number(old.normalised_usd),
            number(new.normalised_usd),
        ));
    }
    for (at, country) in COUNTRIES.iter().enumerate() {
        let days = |offer: &Offer| number(offer.lead_time_days.get(at).copied().flatten());
        let ships =
            |offer: &Offer| if shipping_exclusions::of_bits(offer.refuses)[at] { "no" } else { "yes" };
        facts.push(ChangedField::new(&format!("lead_time_days_to_{country}"), days(old), days(new)));
        facts.push(ChangedField::new(
            &format!("ships_to_{country}"),
            ships(old).to_owned(),
            ships(new).to_owned(),
        ));
    }
    facts.retain(|fact| fact.before != fact.after);
    facts
}

fn to_difference(offer: &Offer, change: ChangeKind, fact: &ChangedField) -> Difference {
    Difference {
        change,
        vendor_name: offer.vendor_name.clone(),
        cs_id: offer.cs_id.clone(),
        pack: size(offer.pack, &offer.uom),
        full_canonical: offer.full_canonical.clone(),
        what: fact.what.clone(),
        before: fact.before.clone(),
        after: fact.after.clone(),
    }
}

fn size(size: Option<f64>, unit: &Option<String>) -> String {
    [number(size), unit.clone().unwrap_or_default()].join(" ").trim().to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
