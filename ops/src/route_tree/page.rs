//! Routes as a page: the same trees, with structural formulas and links to the offers. It is one file that asks for
//! nothing else and runs nothing.

use std::collections::BTreeSet;

use chem::Molecule;
use contract::{Country, TreeSearchResult};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Offers, Tree, best_offers, routes, shopping, standing, summary};

/// Width and height of a structural formula, in pixels.
const PICTURE: (f64, f64) = (190.0, 120.0);

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;\
    background:#fff}pre,code{font-family:ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}ul{list-style:none;\
    margin:0;padding-left:1.5rem;border-left:2px solid #d0d7de}li{margin:.75rem 0}li>svg{display:block}.buy{color:#0a6640}\
    section>ul{border:0;padding:0}";

/// Every route of `result` as HTML; offers are those that ship to `ships_to`.
pub fn page(result: &TreeSearchResult, ships_to: Option<Country>) -> String {
    let offers = best_offers(&result.pricing_annotations, ships_to);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Routes to " (result.search_smiles) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Routes" }
                pre { (summary(result)) }
                @for (index, (steps, backbone, graph)) in routes(result).into_iter().enumerate() {
                    section {
                        h2 { "Route " (index + 1) }
                        p { (steps) " deep · backbone " code { (backbone) } (standing(graph)) }
                        (tree(&Tree::new(graph, &offers)))
                        @let list = shopping::lines(graph).join("\n");
                        @if !list.is_empty() { pre { (list) } }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn tree(tree: &Tree<'_>) -> Markup {
    html! { @if let Some(root) = tree.root { ul { (node(tree, root, &mut BTreeSet::from([root]))) } } }
}

fn node<'a>(tree: &Tree<'a>, id: &'a str, above: &mut BTreeSet<&'a str>) -> Markup {
    let Some(data) = tree.nodes.get(id).map(|node| &node.data) else { return Markup::default() };
    let offers =
        data.building_block_idx.and_then(|idx| tree.offers.get(&idx)).filter(|_| data.is_building_block);
    let mut precursors = Vec::new();
    for precursor in tree.precursors.get(id).map_or(&[][..], Vec::as_slice).iter().copied() {
        // A route has no cycle; an answer that had one must not hang the program.
        if above.insert(precursor) {
            precursors.push(node(tree, precursor, above));
            above.remove(precursor);
        }
    }
    html! {
        li {
            (picture(&data.smiles)) code { (data.smiles) }
            @if let Some(step) = tree.made_by(id).filter(|_| !data.is_building_block) { div { (step) } }
            @if data.is_building_block { div .buy { (offer(offers)) } }
            @if !precursors.is_empty() { ul { @for precursor in &precursors { (precursor) } } }
        }
    }
}

fn offer(offers: Option<&Offers<'_>>) -> Markup {
    let Some(offers) = offers else { return html! { "buy" } };
    let address = offers.best.cs_url.as_str();
    let leads_to_a_page = ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme));
    html! {
        @if leads_to_a_page { a href=(address) rel="noreferrer" { (offers.to_text()) } } @else { (offers.to_text()) }
    }
}

/// Nothing where there is nothing to draw.
fn picture(smiles: &str) -> Markup {
    let molecule = smiles.parse::<Molecule>();
    PreEscaped(molecule.map(|molecule| chem::drawing(&molecule, PICTURE.0, PICTURE.1)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route_tree::tests::RESULT;

    #[test]
    fn a_page_shows_every_molecule_of_a_route_with_its_offer_and_asks_for_nothing() {
        let mut result: TreeSearchResult = serde_json::from_str(&RESULT.replace("OFFERS", "")).unwrap();
        result.search_smiles = "<script>CCO".to_owned();
        for node in
            result.route_hierarchy.values_mut().flat_map(|group| group.values_mut()).flatten().flatten()
        {
            node.nodes
                .iter_mut()
                .filter(|node| node.data.depth == 0)
                .for_each(|node| node.data.smiles = "CCO".into());
        }

        let page = page(&result, Some(Country::Us));

        assert_eq!(page.matches("<svg").count(), 3, "{page}");
        assert_eq!(page.matches("class=\"buy\"").count(), 2, "{page}");
        assert!(page.contains("&lt;script&gt;CCO") && !page.contains("<script"), "{page}");
        assert!(page.contains("default-src 'none'") && !page.contains("src=\"http"), "{page}");
    }
}
