//! `retort catalogue vendors`, `restrict`, `publish` and `remove`.

use clap::Args;

use crate::{
    InstallationArgs,
    catalogue::vendors::{self, Preference},
    failure::Failure,
    terminal,
};

/// List the vendors: name, building blocks, offers, offers with a price per gram, and visibility (`everybody`, or
/// organisations).
#[derive(Debug, Args)]
pub struct Vendors {}

/// A vendor.
#[derive(Debug, Args)]
pub struct Named {
    /// Name of the vendor, as `retort catalogue vendors` shows it.
    vendor: String,
}

/// Show a vendor only to some organisations, such as a company's own stock; it does not exist for the searches of all
/// others.
#[derive(Debug, Args)]
pub struct Restrict {
    /// Name of the vendor, as `retort catalogue vendors` shows it.
    vendor: String,
    /// Organisations that see the vendor; none if the list is empty.
    organisations: Vec<String>,
}

/// Set the preference for a vendor, for an organisation's searches or as the default of all others.
#[derive(Debug, Args)]
pub struct Prefer {
    /// Name of the vendor, as `retort catalogue vendors` shows it.
    vendor: String,
    /// Preference to set.
    preference: Preference,
    /// Organisation whose searches use it.
    #[arg(long, value_name = "NAME")]
    organisation: Option<String>,
}

impl Vendors {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        for vendor in catalogue_tables::vendors::list(&mut database).await? {
            let shown_to = match vendor.shown_to {
                None => "everybody".to_owned(),
                Some(names) if names.is_empty() => "nobody".to_owned(),
                Some(names) => names.join(","),
            };
            terminal::data(&format!(
                "{}\t{}\t{}\t{}\t{shown_to}",
                vendor.name, vendor.building_blocks, vendor.offers, vendor.priced_offers
            ))?;
        }
        Ok(())
    }
}

impl Restrict {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        vendors::restrict(&mut database, &self.vendor, &self.organisations).await?;
        let shown_to =
            if self.organisations.is_empty() { "nobody".to_owned() } else { self.organisations.join(", ") };
        terminal::note(&format!("{} is visible to {shown_to}", self.vendor));
        Ok(())
    }
}

impl Prefer {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        let organisation = self.organisation.as_deref();
        vendors::prefer(&mut database, &self.vendor, self.preference, organisation).await?;
        terminal::note(&format!("from now on searches follow the preference for {}", self.vendor));
        Ok(())
    }
}

impl Named {
    pub(super) async fn publish(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        vendors::publish(&mut database, &self.vendor).await?;
        terminal::note(&format!("{} is visible to everybody", self.vendor));
        Ok(())
    }

    pub(super) async fn remove(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        let removed = vendors::remove(&mut database, &self.vendor).await?;
        terminal::note(&format!(
            "removed {}: {} offers, and {} building blocks that nobody else offers",
            self.vendor, removed.offers, removed.building_blocks
        ));
        Ok(())
    }
}
