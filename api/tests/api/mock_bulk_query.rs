//! Mock searcher for bulk queries of molecules and of the catalogue.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use contract::{
    Analogue, BulkQuery, BulkQueryJob, BulkQueryOutcome, BulkQueryResult, CatalogueCriterion, CatalogueMatch,
    CatalogueSearchResult, ExpandedMolecule, MoleculeAvailability, PrecursorSet, RouteGraph,
    StoredBulkQueryJob, Synthesizability,
};
use flate2::{Compression, write::GzEncoder};
use queue::{Handler, HandlerError, JobContext};
use serde::Serialize;
use sqlx::PgPool;

/// Echoes the request in its answer. `C1CC` is an invalid molecule, and `nonsense` gets a malformed answer.
pub struct MockBulkQueryWorker(pub PgPool);

impl Handler<StoredBulkQueryJob> for MockBulkQueryWorker {
    async fn handle(
        &self,
        context: JobContext<StoredBulkQueryJob>,
        StoredBulkQueryJob::V1(job): StoredBulkQueryJob,
    ) -> Result<(), HandlerError> {
        let outcome = match job.query.clone() {
            BulkQuery::Expansions { limit, check } => {
                packed(&job, |smiles| expanded(smiles, &format!("limit {limit}, {}", check.name())))?
            }
            BulkQuery::BuildingBlocks { ships_to, max_offers, inchikey } => packed(&job, |smiles| {
                let to = ships_to.map_or("anywhere", |country| country.code());
                let sold = sold(smiles, &format!("{to}, at most {max_offers} offers"));
                MoleculeAvailability { inchikey: inchikey.then(|| format!("KEY-{smiles}")), ..sold }
            })?,
            BulkQuery::Synthesizability { max_seconds } => packed(&job, |smiles| made(smiles, max_seconds))?,
            BulkQuery::Makeability { .. } => return Err("only samplers ask this".into()),
            BulkQuery::Analogues { route, building_block } => {
                packed(&job, |smiles| analogue(smiles, &route, &building_block))?
            }
            BulkQuery::Catalogue { sought, limit, ships_to, max_offers } => {
                let to = ships_to.map_or("anywhere", |country| country.code());
                matching_blocks(&sought, &format!("limit {limit}, {to}, at most {max_offers} offers"))?
            }
        };
        let mut transaction = self.0.begin().await?;
        let _ = context.finish(&mut transaction, &Ok(outcome)).await?;
        transaction.commit().await?;
        Ok(())
    }
}

fn packed<T: Serialize>(
    job: &BulkQueryJob,
    item: impl Fn(&str) -> T,
) -> Result<BulkQueryOutcome, HandlerError> {
    let mut items: Vec<T> = job.smiles.iter().map(|smiles| item(smiles)).collect();
    if job.smiles[0] == "nonsense" {
        items.clear();
    }
    let worked_seconds = items.len() as f64 / 3.0;
    let answer = BulkQueryResult {
        object: Default::default(),
        items,
        total_elapsed: worked_seconds,
        deadline_seconds: job.deadline_seconds,
    };
    outcome(&answer, worked_seconds)
}

fn outcome(body: &impl Serialize, worked_seconds: f64) -> Result<BulkQueryOutcome, HandlerError> {
    let mut zipped = GzEncoder::new(Vec::new(), Compression::default());
    zipped.write_all(&serde_json::to_vec(body)?)?;
    Ok(BulkQueryOutcome { zipped: STANDARD.encode(zipped.finish()?), worked_seconds })
}

/// Returns a block whose vendor names the search terms; the catalogue number `nonsense` gets an unexpected
/// similarity.
fn matching_blocks(sought: &CatalogueCriterion, query: &str) -> Result<BulkQueryOutcome, HandlerError> {
    let (way, similarity) = match sought {
        CatalogueCriterion::Structure { smiles } => (format!("structure {smiles}"), None),
        CatalogueCriterion::Similar { smiles, least } => (format!("like {smiles} to {least}"), Some(0.5)),
        CatalogueCriterion::Substructure { pattern } => (format!("with {pattern}"), None),
        CatalogueCriterion::Number { text } => {
            (format!("number {text}"), (text == "nonsense").then_some(0.5))
        }
    };
    let vendors = vec!["Acme".to_owned(), format!("{way}, {query}")];
    let sold = MoleculeAvailability {
        in_stock: true,
        building_block_idx: Some(7),
        price: Some(2.5),
        vendors,
        ..sold("Nc1ccc(O)cc1", "")
    };
    let items = vec![CatalogueMatch { sold, mw: 46.07, similarity }];
    let found = CatalogueSearchResult {
        object: Default::default(),
        items,
        more: true,
        searched: 0.25,
        total_elapsed: 0.5,
    };
    outcome(&found, 0.5)
}

fn fault(smiles: &str) -> Option<String> {
    (smiles == "C1CC").then(|| "no molecule".to_owned())
}

fn expanded(smiles: &str, class: &str) -> ExpandedMolecule {
    let error = fault(smiles);
    let set = PrecursorSet {
        smiles: vec!["C".to_owned(), "CO".to_owned()],
        probability: 0.5,
        plausibility: 0.25,
        template_id: "t".to_owned(),
        reaction_class: class.to_owned(),
        reaction_category: Some("other".to_owned()),
        precedents: 3,
        needs: None,
        in_stock: vec![true, false],
    };
    let precursors = if error.is_none() { vec![set] } else { Vec::new() };
    ExpandedMolecule { smiles: smiles.to_owned(), error, precursors }
}

/// Returns the route to the same target with the molecule in place of the building block.
fn analogue(smiles: &str, route: &RouteGraph, building_block: &str) -> Analogue {
    let error = fault(smiles);
    let mut made = error.is_none().then(|| route.clone());
    let nodes = made.iter_mut().flat_map(|route| &mut route.nodes);
    nodes
        .filter(|node| node.data.smiles == building_block)
        .for_each(|node| smiles.clone_into(&mut node.data.smiles));
    Analogue {
        smiles: smiles.to_owned(),
        error,
        in_stock: made.is_some(),
        target: made.as_ref().map(|route| route.nodes[0].data.smiles.clone()),
        plausibility: made.is_some().then_some(0.5),
        route: made,
    }
}

fn sold(smiles: &str, vendor: &str) -> MoleculeAvailability {
    MoleculeAvailability {
        smiles: smiles.to_owned(),
        error: fault(smiles),
        in_stock: false,
        building_block_idx: None,
        price: None,
        lead_time_days: None,
        inchikey: None,
        vendors: vec![vendor.to_owned()],
        offers: Vec::new(),
    }
}

fn made(smiles: &str, seconds: f64) -> Synthesizability {
    Synthesizability {
        smiles: smiles.to_owned(),
        error: fault(smiles),
        solved: false,
        steps: None,
        price: None,
        plausibility: None,
        seconds,
    }
}
