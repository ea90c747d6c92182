//! Recorded result of a real search, for tests of routes: imatinib with the shipped model and the demo catalogue. It
//! has ten of the 243 routes that were found in ten seconds, each of another shape.

use contract::{ConstraintReport, TreeSearchRequest, TreeSearchResult};

/// Variant that a test selects by `max_depth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedVariant {
    /// 46: the routes as found.
    AsFound,
    /// 45: a thousand routes, a hundred backbones.
    Thousand,
    /// 44: malicious names and structures.
    Hostile,
}

impl RecordedVariant {
    pub fn of(request: &TreeSearchRequest) -> Option<Self> {
        match request.max_depth {
            46 => Some(Self::AsFound),
            45 => Some(Self::Thousand),
            44 => Some(Self::Hostile),
            _ => None,
        }
    }
}

/// Markup that would run a script if it were ever parsed as markup.
pub const HOSTILE: &str =
    "<img src=x onerror=\"document.title='caught'\"><script>document.title='caught'</script>";

pub fn answer(kind: RecordedVariant) -> TreeSearchResult {
    let mut answer: TreeSearchResult =
        serde_json::from_str(include_str!("../data/imatinib_routes.json")).unwrap();
    match kind {
        RecordedVariant::AsFound => {}
        RecordedVariant::Thousand => make_thousand(&mut answer),
        RecordedVariant::Hostile => make_hostile(&mut answer),
    }
    answer
}

/// Adds reports of the bonds to break to an answer: seven proposals refused for each, and the reason if no route was
/// found.
pub fn add_constraint_reports(answer: &mut TreeSearchResult, request: &TreeSearchRequest) {
    if request.bonds_to_break.is_empty() {
        return;
    }
    let reason = answer.route_hierarchy.is_empty().then(|| "no proposed step breaks it".to_owned());
    let report = |index| ConstraintReport {
        constraint: "bonds_to_break".to_owned(),
        index: Some(index),
        refused: 7,
        reason: reason.clone(),
    };
    let reports = (0u32..).zip(&request.bonds_to_break).map(|(index, _)| report(index)).collect();
    answer.metadata.search.get_or_insert_default().constraints = reports;
}

fn make_thousand(answer: &mut TreeSearchResult) {
    let found: Vec<_> =
        answer.route_hierarchy.values().flat_map(|groups| groups.values()).flatten().flatten().collect();
    let mut ranks = 0..;
    let mut again = |graph: &contract::RouteGraph| {
        let mut graph = graph.clone();
        graph.graph.as_mut().unwrap().rank = ranks.next().unwrap() + 1;
        vec![graph]
    };
    let groups =
        (0..100).map(|key| (format!("b{key:016x}"), found.iter().map(|graph| again(graph)).collect()));
    answer.route_hierarchy = [("5".to_owned(), groups.collect())].into();
}

fn make_hostile(answer: &mut TreeSearchResult) {
    HOSTILE.clone_into(&mut answer.search_smiles);
    for offer in &mut answer.pricing_annotations {
        HOSTILE.clone_into(&mut offer.vendor_name);
        HOSTILE.clone_into(&mut offer.cs_id);
        "javascript:document.title='caught'".clone_into(&mut offer.cs_url);
    }
    for graph in
        answer.route_hierarchy.values_mut().flat_map(|groups| groups.values_mut()).flatten().flatten()
    {
        for node in graph.nodes.iter_mut().filter(|node| node.data.is_building_block) {
            HOSTILE.clone_into(&mut node.data.smiles);
        }
        for evidence in graph.edges.iter_mut().filter_map(|edge| edge.evidence.as_mut()) {
            HOSTILE.clone_into(&mut evidence.reaction_class);
            evidence.warnings = vec![HOSTILE.to_owned()];
            evidence.conditions.solvents = [(HOSTILE.to_owned(), 1)].into();
        }
        let list = graph.graph.as_mut().and_then(|standing| standing.shopping_list.as_mut());
        for order in list.into_iter().flat_map(|list| list.vendors.iter_mut()) {
            HOSTILE.clone_into(&mut order.vendor_name);
        }
    }
}
