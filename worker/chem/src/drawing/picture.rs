//! Structural formulas in SVG.
//!
//! Double bonds alternate in aromatic rings and stereocentres have wedges, which chematic's own pictures leave out;
//! its layout is used (see `plan`). A picture contains no style sheet and no script, so that many of them can be in
//! one page.

use std::fmt::Write as _;

use chematic::core::{AtomIdx, BondIdx, implicit_hcount};

use super::drawing_layout::{DrawingLayout, Point, Side};
use crate::molecules::molecule::Molecule;

/// Bond length in pixels, if the picture has room for it.
const BOND: f64 = 26.0;
/// Margin around the atoms, in pixels.
const MARGIN: f64 = 14.0;
/// Ratio of width to height that a picture without a fixed size aims for.
const NATURAL_RATIO: f64 = 1.5;
const INK: &str = "#1b1f24";

/// Draws a molecule as an SVG element of `width` by `height` pixels.
#[must_use]
pub fn drawing(molecule: &Molecule, width: f64, height: f64) -> String {
    let inner = (width - 2.0 * MARGIN, height - 2.0 * MARGIN);
    let plan = DrawingLayout::new(molecule.canonical_graph(), inner.0 / inner.1);
    Picture::new(plan, width, height, inner).drawn()
}

/// A picture and its size.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The SVG element.
    pub svg: String,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
}

/// Draws a molecule at its natural size: bonds have the same length in all pictures drawn like this.
#[must_use]
pub fn drawing_to_scale(molecule: &Molecule) -> Drawing {
    let plan = DrawingLayout::new(molecule.canonical_graph(), NATURAL_RATIO);
    let [left, right, top, bottom] = plan.bounds();
    let size = |extent: f64| (extent * BOND / chematic_depict::layout::BOND_LEN).max(BOND).ceil();
    let inner = (size(right - left), size(bottom - top));
    let (width, height) = (inner.0 + 2.0 * MARGIN, inner.1 + 2.0 * MARGIN);
    Drawing { svg: Picture::new(plan, width, height, inner).drawn(), width, height }
}

struct Picture {
    plan: DrawingLayout,
    svg: String,
    /// Bond length in pixels.
    bond: f64,
    /// Position of each atom.
    places: Vec<Point>,
    labels: Vec<Option<Label>>,
}

/// Text at an atom.
struct Label {
    symbol: String,
    hydrogens: u8,
    charge: i8,
    colour: &'static str,
}

impl Picture {
    fn new(plan: DrawingLayout, width: f64, height: f64, inner: (f64, f64)) -> Self {
        let [left, right, top, bottom] = plan.bounds();
        let (wide, high) = ((right - left).max(1e-6), (bottom - top).max(1e-6));
        let unit = chematic_depict::layout::BOND_LEN;
        let scale = (inner.0 / wide).min(inner.1 / high).min(BOND / unit);
        let (middle_x, middle_y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let place = |point: &Point| Point {
            x: width / 2.0 + (point.x - middle_x) * scale,
            y: height / 2.0 + (point.y - middle_y) * scale,
        };
        let places = plan.points.iter().map(place).collect();
        let labels = (0..plan.graph.atom_count()).map(|n| label(&plan, AtomIdx(n as u32))).collect();
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             stroke-linecap=\"round\" stroke-width=\"1.3\" font-family=\"Arial,Helvetica,sans-serif\">"
        );
        Self { plan, svg, bond: unit * scale, places, labels }
    }

    fn drawn(mut self) -> String {
        for bond in 0..self.plan.graph.bond_count() {
            self.bond(BondIdx(bond as u32));
        }
        for atom in 0..self.plan.graph.atom_count() {
            self.label(AtomIdx(atom as u32));
        }
        self.svg.push_str("</svg>");
        self.svg
    }

    fn at(&self, atom: AtomIdx) -> Point {
        self.places[atom.0 as usize]
    }

    fn font(&self) -> f64 {
        (0.52 * self.bond).clamp(6.0, 13.0)
    }

    fn bond(&mut self, bond: BondIdx) {
        let entry = self.plan.graph.bond(bond);
        let (one, other) = (entry.atom1, entry.atom2);
        if let Some(wedge) = self.plan.wedges.get(&bond).copied() {
            let end = if wedge.from == one { other } else { one };
            return self.wedge(wedge.from, end, wedge.side);
        }
        let (from, to) = self.ends(one, other);
        let across = to.minus(from).unit().across();
        match self.plan.lines[bond.0 as usize] {
            1 => self.line(from, to),
            2 => match self.second_line_side(one, other) {
                Some(sign) => {
                    self.line(from, to);
                    let (shift, along) = (sign * 0.17 * self.bond, to.minus(from));
                    // Shortened at atoms where other bonds start.
                    let cut = |atom: AtomIdx| if self.labels[atom.0 as usize].is_some() { 0.0 } else { 0.14 };
                    let (first, last) = (cut(one), cut(other));
                    self.line(
                        from.along(along, first).along(across, shift),
                        to.along(along, -last).along(across, shift),
                    );
                }
                None => {
                    for sign in [-0.085, 0.085] {
                        let shift = sign * self.bond;
                        self.line(from.along(across, shift), to.along(across, shift));
                    }
                }
            },
            _ => {
                for sign in [-0.15, 0.0, 0.15] {
                    let shift = sign * self.bond;
                    self.line(from.along(across, shift), to.along(across, shift));
                }
            }
        }
    }

    /// Returns the side on which the second line of a double bond lies: inside its ring, else on the side with more
    /// neighbours. `None` if the two lines are symmetric about the axis.
    fn second_line_side(&self, one: AtomIdx, other: AtomIdx) -> Option<f64> {
        let across = self.at(other).minus(self.at(one)).unit().across();
        let height = |point: Point| point.minus(self.at(one)).dot(across);
        let rings = self.plan.rings.iter().filter(|ring| ring.contains(&one) && ring.contains(&other));
        // The ring with the most double bonds; of equals, the smallest.
        let best = rings.max_by_key(|ring| {
            let double = ring.iter().zip(ring.iter().cycle().skip(1));
            let double = double.filter(|(a, b)| {
                let bond = self.plan.graph.bond_between(**a, **b);
                bond.is_some_and(|(bond, _)| self.plan.lines[bond.0 as usize] == 2)
            });
            (double.count(), usize::MAX - ring.len())
        });
        if let Some(ring) = best {
            let sum: f64 = ring.iter().map(|atom| height(self.at(*atom))).sum();
            return Some(sum.signum());
        }
        let graph = &self.plan.graph;
        if graph.degree(one) == 1 || graph.degree(other) == 1 {
            return None;
        }
        let neighbours = graph.neighbors(one).chain(graph.neighbors(other)).map(|(atom, _)| atom);
        let sides =
            neighbours.filter(|atom| ![one, other].contains(atom)).map(|atom| height(self.at(atom)).signum());
        let sum: f64 = sides.sum();
        Some(if sum < 0.0 { -1.0 } else { 1.0 })
    }

    fn wedge(&mut self, from: AtomIdx, to: AtomIdx, side: Side) {
        let (start, end) = self.ends(from, to);
        let along = end.minus(start);
        let (across, half) = (along.unit().across(), 0.11 * self.bond);
        if side == Side::Front {
            let (a, b) = (end.along(across, half), end.along(across, -half));
            let _ = write!(
                self.svg,
                "<path fill=\"{INK}\" d=\"M{:.1} {:.1}L{:.1} {:.1} {:.1} {:.1}z\"/>",
                start.x, start.y, a.x, a.y, b.x, b.y
            );
            return;
        }
        const STROKES: u32 = 6;
        for n in 1..=STROKES {
            let share = f64::from(n) / f64::from(STROKES);
            let middle = start.along(along, share);
            self.line(middle.along(across, half * share), middle.along(across, -half * share));
        }
    }

    /// Returns the ends of a bond's lines, which stop short of labels.
    fn ends(&self, one: AtomIdx, other: AtomIdx) -> (Point, Point) {
        let direction = self.at(other).minus(self.at(one)).unit();
        let gap = |atom: AtomIdx| self.labels[atom.0 as usize].as_ref().map_or(0.0, |_| 0.58 * self.font());
        (self.at(one).along(direction, gap(one)), self.at(other).along(direction, -gap(other)))
    }

    fn line(&mut self, from: Point, to: Point) {
        let _ = write!(
            self.svg,
            "<path stroke=\"{INK}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            from.x, from.y, to.x, to.y
        );
    }

    fn label(&mut self, atom: AtomIdx) {
        let Some(label) = self.labels[atom.0 as usize].take() else { return };
        let (place, font) = (self.at(atom), self.font());
        let neighbours: Vec<Point> =
            self.plan.graph.neighbors(atom).map(|(other, _)| self.at(other).minus(place).unit()).collect();
        let pull =
            neighbours.iter().fold(Point { x: 0.0, y: 0.0 }, |sum, direction| sum.along(*direction, 1.0));
        let (mut symbol, charge) = (label.symbol.clone(), signs(label.charge));
        if !charge.is_empty() {
            symbol += &format!("<tspan dy=\"-{0:.1}\" font-size=\"{0:.1}\">{charge}</tspan>", 0.55 * font);
        }
        let hydrogens = match label.hydrogens {
            0 => String::new(),
            1 => "H".to_owned(),
            n => format!("H<tspan dy=\"{:.1}\" font-size=\"{:.1}\">{n}</tspan>", 0.25 * font, 0.65 * font),
        };
        let (baseline, half) = (place.y + 0.36 * font, 0.36 * font);
        if hydrogens.is_empty() {
            return self.text(
                place.x - half * label.symbol.len() as f64,
                baseline,
                "start",
                &symbol,
                label.colour,
            );
        }
        if neighbours.len() > 1 && pull.x.abs() < 0.3 {
            // No room beside the symbol: below or above it.
            let y = baseline + if pull.y > 0.0 { -0.95 } else { 0.95 } * font;
            self.text(place.x - half, baseline, "start", &symbol, label.colour);
            return self.text(place.x - half, y, "start", &hydrogens, label.colour);
        }
        if pull.x > 0.0 {
            self.text(
                place.x + half,
                baseline,
                "end",
                &format!("{}{symbol}", reset_baseline(&hydrogens)),
                label.colour,
            );
        } else {
            let charge_last =
                format!("{}{}{}", label.symbol, reset_baseline(&hydrogens), &symbol[label.symbol.len()..]);
            self.text(place.x - half, baseline, "start", &charge_last, label.colour);
        }
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str, colour: &str) {
        let _ = write!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" style=\"font-size:{:.1}px;fill:{colour}\">{text}</text>",
            self.font()
        );
    }
}

/// Returns the text to the baseline after a subscript, for what follows.
fn reset_baseline(hydrogens: &str) -> String {
    let Some((_, rest)) = hydrogens.split_once("dy=\"") else { return hydrogens.to_owned() };
    let down = rest.split('"').next().unwrap_or("0");
    // A zero-width space undoes the shift.
    format!("{hydrogens}<tspan dy=\"-{down}\">\u{200b}</tspan>")
}

/// Returns the label of an atom; carbon in a chain or a ring has none.
fn label(plan: &DrawingLayout, atom: AtomIdx) -> Option<Label> {
    let it = plan.graph.atom(atom);
    let number = it.element.atomic_number();
    if number == 6 && it.charge == 0 && it.isotope.is_none() && plan.graph.degree(atom) > 0 {
        return None;
    }
    let colour = match number {
        7 => "#2646c9",
        8 => "#c9302c",
        9 | 17 => "#23803a",
        15 => "#a85a00",
        16 => "#8a6d00",
        35 => "#8a3b1f",
        53 => "#6b2a8f",
        _ => INK,
    };
    let isotope = it.isotope.map(|number| number.to_string()).unwrap_or_default();
    Some(Label {
        symbol: isotope + it.element.symbol(),
        hydrogens: implicit_hcount(&plan.graph, atom),
        charge: it.charge,
        colour,
    })
}

fn signs(charge: i8) -> String {
    let sign = if charge < 0 { "\u{2212}" } else { "+" };
    match charge.unsigned_abs() {
        0 => String::new(),
        1 => sign.to_owned(),
        many => format!("{many}{sign}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{BOND, MARGIN, drawing, drawing_to_scale};

    fn drawn(smiles: &str) -> String {
        drawing(&smiles.parse().unwrap(), 200.0, 150.0)
    }

    #[test]
    fn a_picture_to_scale_is_as_large_as_its_molecule() {
        let [ethane, benzene] = ["CC", "c1ccccc1"].map(|smiles| drawing_to_scale(&smiles.parse().unwrap()));

        assert_eq!((ethane.width, ethane.height), (BOND + 2.0 * MARGIN, BOND + 2.0 * MARGIN));
        assert!((benzene.height.max(benzene.width) - 2.0 * BOND - 2.0 * MARGIN).abs() <= 1.0, "{benzene:?}");
        assert!(
            benzene.svg.starts_with("<svg ") && benzene.svg.contains(&format!("width=\"{}\"", benzene.width))
        );
    }

    #[test]
    fn a_picture_holds_a_line_a_bond_and_a_label_a_heteroatom() {
        let ethanolamine = drawn("NCCO");

        assert_eq!(ethanolamine.matches("<path").count(), 3);
        assert_eq!(ethanolamine.matches("<text").count(), 2);
        assert!(ethanolamine.contains("H<tspan"), "two hydrogens on nitrogen: {ethanolamine}");
        assert!(!ethanolamine.contains("NaN"));
    }

    #[test]
    fn aromatic_rings_have_alternating_double_bonds() {
        assert_eq!(drawn("c1ccccc1").matches("<path").count(), 9);
    }

    #[test]
    fn charges_and_isotopes_are_written() {
        let picture = drawn("[13CH3][N+](C)(C)CC(=O)[O-]");

        assert!(
            picture.contains(">13C") && picture.contains(">+<") && picture.contains("\u{2212}"),
            "{picture}"
        );
    }

    #[test]
    fn everything_lies_within_the_picture() {
        for smiles in ["C", "CCCCCCCCCCCCCCCCCCCC", "C#CC#C", "[Na+].[Cl-]", "C1CC2CCC1C2"] {
            let picture = drawn(smiles);
            for path in picture.split(" d=\"").skip(1) {
                let path = path.split('"').next().unwrap();
                for place in path.split(['M', 'L', ' ', 'z']).filter_map(|word| word.parse::<f64>().ok()) {
                    assert!((0.0..=200.0).contains(&place), "{smiles}: {place}");
                }
            }
        }
    }
}
