//! Molecules and steps of an answer's routes, each once, as its compact routes name them.

use std::collections::{BTreeMap, HashMap};

use contract::{
    CompactMolecule, CompactRoute, CompactStep, Conditions, NodeData, NodeNecessity, RouteSummary,
    StepEvidence,
};
use synth::{ComponentRole, Route, RouteNode, RouteStep, SharedGraph};
use uuid::Uuid;

use crate::rounding::rounded;

/// Namespace UUID of the node ids. A molecule's id depends only on its canonical SMILES.
const MOLECULE_NAMESPACE: Uuid = Uuid::from_u128(0x2d5c_0a6e_41d2_4f0b_9c55_6a5e_7e1f_30c4);

/// Collects the molecules and steps of routes. A molecule that some routes buy and others make stands twice, and so
/// does a step with other warnings in another route.
#[derive(Default)]
pub(crate) struct RouteParts<'a> {
    /// Molecules, in order of appearance.
    pub(crate) molecules: Vec<CompactMolecule>,
    /// Steps, in order of appearance.
    pub(crate) steps: Vec<CompactStep>,
    /// Steps as `precursor.precursor>>product`, each with the identifiers of its edges.
    pub(crate) reactions: BTreeMap<String, Vec<String>>,
    /// Indices of the molecules by SMILES, by the building block as which a route buys them, and by whether the search
    /// expanded them.
    molecule_indices: HashMap<(&'a str, Option<i32>, bool), u32>,
    /// Steps by the SMILES of their products.
    known_steps: HashMap<&'a str, Vec<KnownStep<'a>>>,
}

struct KnownStep<'a> {
    step: &'a RouteStep,
    precursors: Vec<&'a str>,
    index: u32,
}

impl<'a> RouteParts<'a> {
    /// Adds a route; `shared` is the graph of all routes of the answer, if there is more than this one.
    pub(crate) fn add(
        &mut self,
        route: &'a Route,
        shared: Option<&SharedGraph<'_>>,
        standing: RouteSummary,
    ) -> CompactRoute {
        let molecules = route.molecules().map(|molecule| self.molecule(molecule, shared)).collect();
        let steps = route.steps().map(|(product, step)| {
            let precursors = route.precursors(product).map(|molecule| &*molecule.smiles).collect();
            self.step(&route.graph.molecule(product).smiles, step, precursors)
        });
        CompactRoute { graph: Some(standing), steps: steps.collect(), molecules }
    }

    fn molecule(&mut self, node: &'a RouteNode, shared: Option<&SharedGraph<'_>>) -> u32 {
        let key = (&*node.smiles, node.building_block, node.expanded);
        let molecules = &mut self.molecules;
        *self.molecule_indices.entry(key).or_insert_with(|| {
            molecules.push(molecule(node, shared));
            last_index(molecules)
        })
    }

    fn step(&mut self, product: &'a str, step: &'a RouteStep, precursors: Vec<&'a str>) -> u32 {
        let same_product = self.known_steps.entry(product).or_default();
        let is_same = |known: &&KnownStep<'_>| known.precursors == precursors && known.step == step;
        if let Some(known) = same_product.iter().find(is_same) {
            return known.index;
        }
        let (source, mut ids) = (id(product), Vec::new());
        for id in precursors.iter().map(|smiles| id(smiles)) {
            // A precursor needed twice is one molecule.
            if ids.last() != Some(&id) {
                ids.push(id);
            }
        }
        let mut edges: Vec<String> = ids.iter().map(|id| format!("{source}:{id}")).collect();
        edges.sort_unstable();
        self.reactions.insert(format!("{}>>{product}", precursors.join(".")), edges);
        self.steps.push(CompactStep {
            product: source,
            precursors: ids,
            plausibility: Some(rounded(f64::from(step.plausibility))),
            evidence: Some(evidence(step, &precursors)),
        });
        let index = last_index(&self.steps);
        same_product.push(KnownStep { step, precursors, index });
        index
    }
}

fn last_index<T>(items: &[T]) -> u32 {
    u32::try_from(items.len() - 1).unwrap_or(u32::MAX)
}

fn molecule(node: &RouteNode, shared: Option<&SharedGraph<'_>>) -> CompactMolecule {
    CompactMolecule {
        id: id(&node.smiles),
        data: NodeData {
            smiles: node.smiles.clone(),
            mw: node.mw,
            is_building_block: node.building_block.is_some(),
            building_block_idx: node.building_block,
            closest_building_block: f64::from(node.closest_building_block),
            depth: 0,
            expanded: node.expanded,
            in_solution_path: true,
        },
        standing: shared.map(|shared| NodeNecessity {
            essential: shared.is_essential(&node.smiles),
            only_for: shared.only_for(&node.smiles).map(id),
        }),
    }
}

/// Converts the evidence of a step from these precursors.
pub(crate) fn evidence(step: &RouteStep, precursors: &[&str]) -> StepEvidence {
    StepEvidence {
        reaction_class: step.class.name.to_owned(),
        reaction_category: step.class.category.to_string(),
        template: step.template_hash.clone(),
        probability: rounded(f64::from(step.probability)),
        precedents: step.records.reactions,
        patents: step.records.patents.clone(),
        conditions: conditions(step, precursors),
        precedent_similarity: step.precedent.map(|near| rounded(f64::from(near.tanimoto))),
        precedent_cosine: step.precedent.map(|near| rounded(f64::from(near.cosine))),
        template_id: Some(step.template),
        rank: step.rank,
        needs: step.stereo_source.map(|source| source.to_string()),
        warnings: step.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn conditions(step: &RouteStep, precursors: &[&str]) -> Conditions {
    let mut conditions = Conditions::default();
    for (role, name, count) in step.records.conditions(step.class, precursors) {
        let agents = match role {
            ComponentRole::Reagent => &mut conditions.reagents,
            ComponentRole::Catalyst => &mut conditions.catalysts,
            ComponentRole::Solvent => &mut conditions.solvents,
        };
        agents.insert(name.to_owned(), count);
    }
    conditions
}

/// Returns the node id of a molecule.
pub(crate) fn id(smiles: &str) -> String {
    Uuid::new_v5(&MOLECULE_NAMESPACE, smiles.as_bytes()).to_string()
}
