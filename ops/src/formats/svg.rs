//! Picture of the best route: a synthesis from left to right, with all structures at one scale and each step's class
//! and number at its arrow.
//!
//! The layout is that of the console's schemes (`api/console/drawing/scheme_layout.js`). Molecules of one depth share a column.
//! Every subtree has its own band, as high as its precursors together, so nothing overlaps.

use std::{collections::BTreeMap, fmt::Write as _};

use chem::{Drawing, Molecule, drawing_to_scale};
use contract::{RouteTree, TreeMolecule};
use maud::html;

const MARGIN: f64 = 12.0;
/// Vertical gap between bands.
const BAND_GAP: f64 = 14.0;
/// Horizontal gap between columns.
const COLUMN_GAP: f64 = 170.0;
const LINE: f64 = 16.0;
/// Maximum characters per line at an arrow.
const MAX_LINE_CHARACTERS: usize = 22;

/// A molecule in the layout; `band` is the height of its subtree.
struct PlacedMolecule {
    picture: Drawing,
    depth: usize,
    band: f64,
    words: Vec<String>,
    precursors: Vec<Self>,
}

/// Draws the picture of a route.
pub(super) fn picture(route: &RouteTree<'_>) -> String {
    let numbers: BTreeMap<&str, usize> = route
        .steps()
        .iter()
        .zip(1..)
        .map(|((_, product), number)| (product.data.smiles.as_str(), number))
        .collect();
    let root = measure(&route.target, 0, &numbers);
    let mut widths = Vec::new();
    collect_column_widths(&root, &mut widths);
    let mut content = String::new();
    let lefts = lefts(&widths);
    draw_subtree(&root, MARGIN, &widths, &lefts, &mut content);
    let (width, height) = (lefts[0] + widths[0] + MARGIN, root.band + 2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Arial,Helvetica,sans-serif\" font-size=\"12\" text-anchor=\"middle\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{content}</svg>\n"
    )
}

fn measure(molecule: &TreeMolecule<'_>, depth: usize, numbers: &BTreeMap<&str, usize>) -> PlacedMolecule {
    let smiles = &molecule.data.smiles;
    let picture = smiles
        .parse::<Molecule>()
        .map_or_else(|_| text_drawing(smiles), |structure| drawing_to_scale(&structure));
    let Some(step) = &molecule.made_by else {
        return PlacedMolecule {
            band: picture.height,
            picture,
            depth,
            words: Vec::new(),
            precursors: Vec::new(),
        };
    };
    let class = step.edge.evidence.as_ref().map_or("reaction", |evidence| evidence.reaction_class.as_str());
    let number = numbers.get(smiles.as_str()).copied().unwrap_or_default();
    let words = wrapped(&format!("{number}. {class}"));
    let precursors: Vec<PlacedMolecule> =
        step.precursors.iter().map(|one| measure(one, depth + 1, numbers)).collect();
    let bands: f64 = precursors.iter().map(|one| one.band).sum();
    let together = bands + between(precursors.len());
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let of_words = 2.0 * words.len() as f64 * LINE;
    PlacedMolecule { band: together.max(picture.height).max(of_words), picture, depth, words, precursors }
}

/// Draws a molecule without a structure drawing as text.
fn text_drawing(smiles: &str) -> Drawing {
    let text: String = smiles.chars().take(40).collect();
    let svg = html! { svg xmlns="http://www.w3.org/2000/svg" width="260" height="30" { text x="130" y="20" { (text) } } };
    Drawing { svg: svg.into_string(), width: 260.0, height: 30.0 }
}

#[expect(clippy::cast_precision_loss, reason = "a few precursors")]
fn between(precursors: usize) -> f64 {
    BAND_GAP * precursors.saturating_sub(1) as f64
}

/// Wraps text into lines of the given length; only a longer word exceeds it.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= MAX_LINE_CHARACTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Collects the width of the widest molecule of each depth.
fn collect_column_widths(laid: &PlacedMolecule, widths: &mut Vec<f64>) {
    if widths.len() <= laid.depth {
        widths.resize(laid.depth + 1, 0.0);
    }
    widths[laid.depth] = widths[laid.depth].max(laid.picture.width);
    laid.precursors.iter().for_each(|one| collect_column_widths(one, widths));
}

/// Returns the left edges of the columns by depth; the deepest column is leftmost.
fn lefts(widths: &[f64]) -> Vec<f64> {
    let mut lefts = vec![MARGIN; widths.len()];
    for depth in (0..widths.len().saturating_sub(1)).rev() {
        lefts[depth] = lefts[depth + 1] + widths[depth + 1] + COLUMN_GAP;
    }
    lefts
}

/// Draws a molecule and its subtree into the band that begins at `top`; returns the height of its middle and its
/// right edge.
fn draw_subtree(
    laid: &PlacedMolecule,
    top: f64,
    widths: &[f64],
    lefts: &[f64],
    content: &mut String,
) -> (f64, f64) {
    let bands: f64 = laid.precursors.iter().map(|one| one.band).sum();
    let mut y = top + (laid.band - bands - between(laid.precursors.len())) / 2.0;
    let mut ends = Vec::new();
    for precursor in &laid.precursors {
        ends.push(draw_subtree(precursor, y, widths, lefts, content));
        y += precursor.band + BAND_GAP;
    }
    let middle = top + laid.band / 2.0;
    let left = lefts[laid.depth] + (widths[laid.depth] - laid.picture.width) / 2.0;
    let (x, y) = (left, middle - laid.picture.height / 2.0);
    let picture = laid.picture.svg.replacen("<svg ", &format!("<svg x=\"{x:.1}\" y=\"{y:.1}\" "), 1);
    content.push_str(&picture);
    draw_arrow(laid, &ends, (lefts[laid.depth] - COLUMN_GAP, left, middle), content);
    (middle, left + laid.picture.width)
}

/// Draws the lines from the precursors, the arrow to the product, and the arrow's text. The gap begins at `from`; the
/// product is at `to`.
fn draw_arrow(
    laid: &PlacedMolecule,
    ends: &[(f64, f64)],
    (from, to, middle): (f64, f64, f64),
    content: &mut String,
) {
    if ends.is_empty() {
        return;
    }
    let bar = from + 12.0;
    let mut path = format!("M{bar:.1} {middle:.1}H{:.1}", to - 8.0);
    for (height, right) in ends {
        let _ = write!(path, "M{right:.1} {height:.1}H{bar:.1}V{middle:.1}");
    }
    let _ = write!(
        content,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#1b1f24\" stroke-width=\"1.3\"/>\
         <path d=\"M{to:.1} {middle:.1}l-9 -4.5v9z\" fill=\"#1b1f24\"/>"
    );
    for (line, up) in laid.words.iter().rev().zip(0_u8..) {
        let (x, y) = (f64::midpoint(bar, from + COLUMN_GAP), middle - 7.0 - f64::from(up) * LINE);
        content
            .push_str(&html! { text x=(format!("{x:.1}")) y=(format!("{y:.1}")) { (line) } }.into_string());
    }
}
