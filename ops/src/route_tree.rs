//! Routes as text: one tree per route, with the target at its root and each building block with its best offer.

mod shopping;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use contract::{
    Conditions, ConstraintReport, Country, Edge, Node, PricingAnnotation, RouteGraph, TreeSearchResult,
};

/// Formats every route of `result`; offers are those that ship to `ships_to`.
pub fn render(result: &TreeSearchResult, ships_to: Option<Country>) -> String {
    let offers = best_offers(&result.pricing_annotations, ships_to);
    let mut text = summary(result);
    for (number, (steps, backbone, graph)) in (1..).zip(result.ranked_routes()) {
        let unit = if steps == "1" { "step" } else { "steps" };
        let standing = standing(graph);
        let _ = writeln!(text, "\nRoute {number} · {steps} {unit} deep · backbone {backbone}{standing}");
        Tree::new(graph, &offers).write(&mut text);
        for line in shopping::lines(graph) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// Formats the price and the lead time of a route, as far as the answer gives them.
fn standing(graph: &RouteGraph) -> String {
    let Some(standing) = &graph.graph else { return String::new() };
    let price = standing.cost_usd_per_mol.map(|usd| format!(" · {} USD/mol", format_price(usd)));
    let days = standing.lead_time_days.map(|days| format!(" · {days} days"));
    price.into_iter().chain(days).collect()
}

/// Says how many routes there are, and how many of them the answer shows.
pub fn found(result: &TreeSearchResult) -> String {
    let shown = result.ranked_routes().len();
    match result.metadata.validated_routes {
        0 => "no route found".to_owned(),
        1 => "1 validated route".to_owned(),
        count if usize::try_from(count).is_ok_and(|count| count > shown) => format!(
            "{count} validated routes, {shown} of them shown (more: --max-backbones, --max-variations)"
        ),
        count => format!("{count} validated routes"),
    }
}

fn summary(result: &TreeSearchResult) -> String {
    let metadata = &result.metadata;
    format!(
        "{}\n{} in {:.2} s ({:.2} s of search, {} graph nodes)\n",
        result.search_smiles,
        found(result),
        metadata.total_elapsed,
        metadata.tree_search_elapsed,
        metadata.total_graph_nodes
    )
}

/// Describes a constraint's part in the lack of a route.
fn refusal(constraint: &ConstraintReport) -> String {
    let item = constraint.index.map(|index| format!("[{index}]")).unwrap_or_default();
    let reason = constraint.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("  {}{item} refused {}{reason}", constraint.constraint, constraint.refused)
}

/// Describes what stopped a search without a route, and what to try; `None` if there is a route.
pub fn no_route_reason(result: &TreeSearchResult) -> Option<String> {
    if !result.ranked_routes().is_empty() {
        return None;
    }
    let search = result.metadata.search.clone().unwrap_or_default();
    let stopped = search.stopped_by.iter().map(|smiles| format!("  neither made nor bought: {smiles}"));
    let refused = search.refused_steps;
    let reasons = [
        (refused.unsound, "a chemist would not run them"),
        (refused.product_not_regained, "run forwards, they do not give their product"),
        (refused.competing_site, "run forwards, they give other products as well"),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    let reasons = reasons.map(|(count, reason)| format!("  {count} steps refused: {reason}"));
    let advice = if search.exhausted {
        "  everything was tried: allow more steps (--max-depth) or more building blocks (--any-price, --ships-to anywhere)"
    } else {
        "  the time was over: allow more (--max-seconds)"
    };
    let refusals =
        search.constraints.iter().filter(|constraint| constraint.refused > 0 || constraint.reason.is_some());
    let refusals = refusals.map(refusal);
    let lines: Vec<String> = stopped.chain(reasons).chain(refusals).chain([advice.to_owned()]).collect();
    Some(lines.join("\n"))
}

/// Best offer of a building block, and the number of its offers.
struct Offers<'a> {
    best: &'a PricingAnnotation,
    lead_time_days: Option<f64>,
    count: usize,
}

/// Returns the cheapest offer of each building block, by catalogue integer; unknown prices sort last.
fn best_offers(annotations: &[PricingAnnotation], ships_to: Option<Country>) -> BTreeMap<i32, Offers<'_>> {
    let price = |offer: &PricingAnnotation| offer.normalised_usd.unwrap_or(f64::INFINITY);
    let mut offers: BTreeMap<i32, Offers<'_>> = BTreeMap::new();
    for annotation in annotations {
        let lead_time_days = ships_to.and_then(|country| annotation.lead_time_days_to(country));
        offers
            .entry(annotation.major_component_id)
            .and_modify(|known| {
                known.count += 1;
                if price(annotation) < price(known.best) {
                    (known.best, known.lead_time_days) = (annotation, lead_time_days);
                }
            })
            .or_insert(Offers { best: annotation, lead_time_days, count: 1 });
    }
    offers
}

/// Route graph, prepared for traversal from its root.
struct Tree<'a> {
    root: Option<&'a str>,
    nodes: BTreeMap<&'a str, &'a Node>,
    precursors: BTreeMap<&'a str, Vec<&'a str>>,
    steps: BTreeMap<&'a str, &'a Edge>,
    offers: &'a BTreeMap<i32, Offers<'a>>,
}

impl<'a> Tree<'a> {
    fn new(graph: &'a RouteGraph, offers: &'a BTreeMap<i32, Offers<'a>>) -> Self {
        let mut precursors: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut steps = BTreeMap::new();
        for edge in &graph.edges {
            precursors.entry(&edge.source).or_default().push(&edge.target);
            steps.entry(edge.source.as_str()).or_insert(edge);
        }
        let nodes = graph.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let root = graph.nodes.iter().min_by_key(|node| node.data.depth).map(|node| node.id.as_str());
        Self { root, nodes, precursors, steps, offers }
    }

    fn write(&self, text: &mut String) {
        let Some(root) = self.root else { return };
        let _ = writeln!(text, "{}", self.label(root));
        self.write_precursors(text, root, "", &mut BTreeSet::from([root]));
    }

    fn write_precursors(
        &self,
        text: &mut String,
        product: &str,
        indent: &str,
        above: &mut BTreeSet<&'a str>,
    ) {
        let precursors = self.precursors.get(product).map_or(&[][..], Vec::as_slice);
        for (index, precursor) in precursors.iter().copied().enumerate() {
            let last = index + 1 == precursors.len();
            let (branch, deeper) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let _ = writeln!(text, "{indent}{branch}{}", self.label(precursor));
            // A route has no cycle; an answer with one must not hang the command.
            if above.insert(precursor) {
                self.write_precursors(text, precursor, &format!("{indent}{deeper}"), above);
                above.remove(precursor);
            }
        }
    }

    fn label(&self, id: &str) -> String {
        let Some(node) = self.nodes.get(id) else { return format!("{id} (not in the answer)") };
        if !node.data.is_building_block {
            return format!("{}{}", node.data.smiles, self.step_text(id).unwrap_or_default());
        }
        let offers = node.data.building_block_idx.and_then(|idx| self.offers.get(&idx));
        format!("{}  [{}]", node.data.smiles, offers.map_or_else(|| "buy".to_owned(), Offers::to_text))
    }

    /// Describes the step that makes a molecule and its evidence; `None` if the answer does not give it.
    fn step_text(&self, id: &str) -> Option<String> {
        let edge = self.steps.get(id)?;
        let evidence = edge.evidence.as_ref()?;
        let mut text = format!("  ← {}", evidence.reaction_class);
        if let Some(plausibility) = edge.plausibility {
            let _ = write!(text, " · plausibility {plausibility:.2}");
        }
        if evidence.precedents > 0 {
            let _ = write!(text, " · {} precedents", evidence.precedents);
        }
        if !evidence.patents.is_empty() {
            let _ = write!(text, " ({})", evidence.patents.join(", "));
        }
        let Conditions { reagents, catalysts, solvents } = &evidence.conditions;
        let agents: Vec<&str> = [reagents, catalysts, solvents].into_iter().filter_map(commonest).collect();
        if !agents.is_empty() {
            let _ = write!(text, " · {}", agents.join(", "));
        }
        if let Some(needs) = &evidence.needs {
            let _ = write!(text, " · needs {needs}");
        }
        for warning in &evidence.warnings {
            let _ = write!(text, " · ! {warning}");
        }
        Some(text)
    }
}

/// Returns the name with the most precedents.
fn commonest(agents: &BTreeMap<String, u32>) -> Option<&str> {
    agents.iter().max_by_key(|(_, count)| **count).map(|(name, _)| name.as_str())
}

impl Offers<'_> {
    fn to_text(&self) -> String {
        let mut text = match self.best.normalised_usd {
            Some(usd) => format!("buy at {} USD/g", format_price(usd)),
            None => "buy, price unknown".to_owned(),
        };
        let _ = write!(text, " · {}", self.best.vendor_name);
        if let Some(days) = self.lead_time_days {
            let _ = write!(text, " · {days} days");
        }
        if self.count > 1 {
            let _ = write!(text, " · {} offers", self.count);
        }
        text
    }
}

/// Rounds a price for a tree to about three significant figures.
fn format_price(usd: f64) -> String {
    let decimals = if usd >= 100.0 {
        0
    } else if usd >= 1.0 {
        2
    } else {
        4
    };
    format!("{usd:.decimals$}")
}

#[cfg(test)]
mod tests {
    use contract::{RouteSummary, SearchReport, StepEvidence};

    use super::*;

    /// Answer with a two-step route: the target from `A` and `B`, `A` from `C`; `B` has two offers.
    const RESULT: &str = r#"{
        "search_smiles": "T",
        "metadata": {"tree_search_elapsed": 0.5, "routes_extracted_elapsed": 0, "routes_validated_elapsed": 0,
            "bblock_annotations_elapsed": 0, "total_elapsed": 0.75, "total_graph_nodes": 9,
            "unvalidated_routes": 0, "validated_routes": 1, "total_bblocks": 2},
        "route_hierarchy": {"2": {"b0123456789abcdef": [[{"directed": true, "multigraph": false, "nodes": [
            {"id": "t", "data": {"smiles": "T", "mw": 1, "is_building_block": false, "building_block_idx": null,
                "closest_building_block": 0.5, "depth": 0, "expanded": true, "in_solution_path": true}},
            {"id": "a", "data": {"smiles": "A", "mw": 1, "is_building_block": false, "building_block_idx": null,
                "closest_building_block": 0.5, "depth": 1, "expanded": true, "in_solution_path": true}},
            {"id": "b", "data": {"smiles": "B", "mw": 1, "is_building_block": true, "building_block_idx": 7,
                "closest_building_block": 1, "depth": 1, "expanded": false, "in_solution_path": true}},
            {"id": "c", "data": {"smiles": "C", "mw": 1, "is_building_block": true, "building_block_idx": 8,
                "closest_building_block": 1, "depth": 2, "expanded": false, "in_solution_path": true}}],
            "edges": [{"source": "t", "target": "a"}, {"source": "t", "target": "b"},
                {"source": "a", "target": "c"}]}]]}},
        "pricing_annotations": [OFFERS],
        "reagent_results": {"reaction_to_edges": {}}
    }"#;

    fn offer(vendor: &str, usd: &str) -> String {
        format!(
            r#"{{"major_component_id": 7, "full_canonical": "B", "major_component": "B", "minor_components": "",
            "mw": 1, "vendor_name": "{vendor}", "cs_id": "1", "cs_prefix": "", "cs_url": "", "pack": 1,
            "uom": "g", "price_usd": {usd}, "normalised_usd": {usd}, "api_timestamp": "2026-01-01T00:00:00Z",
            "lead_time_days_to_US": 3, "lead_time_days_to_CA": null, "lead_time_days_to_GB": null,
            "lead_time_days_to_FR": null, "lead_time_days_to_CH": null, "lead_time_days_to_DE": null,
            "lead_time_days_to_CN": null, "lead_time_days_to_AU": null}}"#
        )
    }

    #[test]
    fn a_route_is_drawn_from_the_target_down_with_the_cheapest_offers() {
        let offers = [offer("Dear", "12.5"), offer("Cheap", "0.25")].join(",");
        let result = serde_json::from_str(&RESULT.replace("OFFERS", &offers)).unwrap();

        let text = render(&result, Some(Country::Us));

        assert_eq!(
            text,
            "T\n1 validated route in 0.75 s (0.50 s of search, 9 graph nodes)\n\n\
             Route 1 · 2 steps deep · backbone b0123456789abcdef\n\
             T\n\
             ├─ A\n\
             │  └─ C  [buy]\n\
             └─ B  [buy at 0.2500 USD/g · Cheap · 3 days · 2 offers]\n"
        );
    }

    #[test]
    fn no_route_is_said_in_words() {
        let mut result: TreeSearchResult = serde_json::from_str(&RESULT.replace("OFFERS", "")).unwrap();
        result.route_hierarchy.clear();
        result.metadata.validated_routes = 0;
        result.metadata.search = Some(SearchReport {
            stopped_by: vec!["C1CC1".to_owned()],
            exhausted: true,
            constraints: vec![ConstraintReport {
                constraint: "molecules_never".to_owned(),
                index: Some(1),
                refused: 7,
                reason: Some("without this one there is a route".to_owned()),
            }],
            ..SearchReport::default()
        });

        assert!(render(&result, None).contains("\nno route found in "));
        let reason = no_route_reason(&result).unwrap();
        assert!(
            reason.contains("neither made nor bought: C1CC1") && reason.contains("--max-depth"),
            "{reason}"
        );
        assert!(
            reason.contains("  molecules_never[1] refused 7: without this one there is a route\n"),
            "{reason}"
        );
    }

    #[test]
    fn the_best_route_comes_first_and_says_what_it_rests_on() {
        let mut result: TreeSearchResult = serde_json::from_str(&RESULT.replace("OFFERS", "")).unwrap();
        let group = result.route_hierarchy.get_mut("2").unwrap().get_mut("b0123456789abcdef").unwrap();
        let standing = |rank| RouteSummary {
            rank,
            score: 0.5,
            cost_usd_per_mol: Some(1234.5),
            lead_time_days: Some(4.0),
            convergence: 1.0,
            shopping_list: None,
            backbone: None,
        };
        let mut best = group[0][0].clone();
        group[0][0].graph = Some(standing(2));
        best.graph = Some(standing(1));
        best.edges[0].plausibility = Some(0.875);
        best.edges[0].evidence = Some(StepEvidence {
            reaction_class: "amide coupling".to_owned(),
            reaction_category: "acylation and related processes".to_owned(),
            template: "hash".to_owned(),
            probability: 0.5,
            precedents: 120,
            precedent_similarity: Some(0.4),
            precedent_cosine: None,
            template_id: None,
            rank: None,
            patents: vec!["US1".to_owned()],
            conditions: Conditions {
                solvents: [("THF".to_owned(), 3), ("DMF".to_owned(), 5)].into(),
                ..Conditions::default()
            },
            needs: None,
            warnings: vec!["look".to_owned()],
        });
        group[0].push(best);

        let text = render(&result, None);

        let first = text.split("Route 1").nth(1).unwrap();
        let step = "T  ← amide coupling · plausibility 0.88 · 120 precedents (US1) · DMF · ! look";
        assert!(
            first.starts_with(" · 2 steps deep · backbone b0123456789abcdef · 1234 USD/mol · 4 days"),
            "{text}"
        );
        assert!(first.split("Route 2").next().unwrap().contains(step), "{text}");
    }
}
