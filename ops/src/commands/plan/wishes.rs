//! Constraints of `retort plan` on routes, besides reaching building blocks.

use clap::Args;
use contract::{AtomPair, OwnBlock, ProtectingGroups, TreeSearchRequest};

/// Constraints that routes must satisfy.
#[derive(Debug, Args)]
#[command(next_help_heading = "What routes must and may not do")]
pub(super) struct RouteConstraints {
    /// Break the bond between the atoms with these map numbers, as in `C[C:1](=O)[NH:2]C`.
    #[arg(long, value_name = "MAP,MAP", value_parser = parse_bond)]
    break_bond: Vec<AtomPair>,
    /// Break no bond between the atoms with these map numbers.
    #[arg(long, value_name = "MAP,MAP", value_parser = parse_bond)]
    keep_bond: Vec<AtomPair>,
    /// Break no bond within a match of this SMARTS or SMILES in the target.
    #[arg(long, value_name = "SMARTS")]
    keep: Vec<String>,
    /// Neither use nor make this molecule.
    #[arg(long, value_name = "SMILES")]
    never: Vec<String>,
    /// Neither use nor make a molecule that matches this.
    #[arg(long, value_name = "SMARTS")]
    never_with: Vec<String>,
    /// Use this building block in every route.
    #[arg(long, value_name = "SMILES")]
    using: Vec<String>,
    /// Treat this building block as in stock, at this price if one is given.
    #[arg(long, value_name = "SMILES[,USD_PER_GRAM]", value_parser = parse_own_block)]
    own: Vec<OwnBlock>,
    /// Use only steps of this class; repeat the option for several classes.
    #[arg(long, value_name = "CLASS")]
    only_class: Vec<String>,
    /// Use no step of this class.
    #[arg(long, value_name = "CLASS")]
    never_class: Vec<String>,
    /// Require a step of this class in every route.
    #[arg(long, value_name = "CLASS")]
    with_class: Vec<String>,
    /// Use no step of this template.
    #[arg(long, value_name = "TEMPLATE")]
    never_template: Vec<String>,
    /// Maximum reaction steps of a whole route.
    #[arg(long, value_name = "STEPS")]
    max_steps: Option<u32>,
    /// Neither add nor remove protecting groups.
    #[arg(long)]
    no_protecting_groups: bool,
}

impl RouteConstraints {
    /// Builds a request with these constraints and nothing else.
    pub(super) fn request(&self) -> TreeSearchRequest {
        TreeSearchRequest {
            bonds_to_break: self.break_bond.clone(),
            bonds_to_keep: self.keep_bond.clone(),
            fragments_to_keep: self.keep.clone(),
            molecules_never: self.never.clone(),
            substructures_never: self.never_with.clone(),
            building_blocks_required: self.using.clone(),
            building_blocks_own: self.own.clone(),
            reaction_classes_only: self.only_class.clone(),
            reaction_classes_never: self.never_class.clone(),
            reaction_classes_required: self.with_class.clone(),
            templates_never: self.never_template.clone(),
            max_steps: self.max_steps,
            protecting_groups: if self.no_protecting_groups {
                ProtectingGroups::Never
            } else {
                ProtectingGroups::Allowed
            },
            ..TreeSearchRequest::new("")
        }
    }
}

fn parse_bond(text: &str) -> Result<AtomPair, String> {
    let numbers =
        text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.map(|(a, b)| AtomPair(a, b)).ok_or_else(|| "two atom map numbers, as in 1,2".to_owned())
}

/// Parses a SMILES and an optional price after a comma. The extension of a SMILES (`C[C@H](F)Cl |o1:1,r|`) may have
/// commas.
fn parse_own_block(text: &str) -> Result<OwnBlock, String> {
    let end = text.rfind('|').unwrap_or(0);
    let Some(comma) = text[end..].find(',') else {
        return Ok(OwnBlock { smiles: text.to_owned(), usd_per_gram: None });
    };
    let (smiles, price) = (&text[..end + comma], &text[end + comma + 1..]);
    let usd_per_gram = price.trim().parse().map_err(|_| format!("`{price}` is not a price"))?;
    Ok(OwnBlock { smiles: smiles.to_owned(), usd_per_gram: Some(usd_per_gram) })
}
