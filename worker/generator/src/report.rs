//! HTML report of an evaluation in one file: figures, histograms, scaffolds and pictures of some molecules.
//!
//! The file is self-contained: pictures are inline SVG and there are no scripts.

use std::fmt::Write;

use chem::Molecule;

use crate::{Distribution, Evaluation};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 120.0;
/// Maximum number of bars of a histogram.
const MAX_BARS: usize = 40;
/// Share of the values at each end that lies outside a histogram's range.
const OUTLIER_SHARE: f64 = 0.002;
/// Number of molecules drawn, and the size of their pictures.
const MAX_PICTURES: usize = 40;
const PICTURE: (f64, f64) = (240.0, 170.0);
/// Size of a scaffold's picture.
const SCAFFOLD_SIZE: (f64, f64) = (160.0, 110.0);

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:2em auto;padding:0 1em;color:#1b1f24}\
table{border-collapse:collapse}td,th{padding:.25em 1em .25em 0;text-align:left}td+td{font-variant-numeric:tabular-nums}\
.plots,.grid{display:flex;flex-wrap:wrap;gap:1.5em}.grid{gap:.75em}figure{margin:0}figcaption{margin-bottom:.3em}\
.plots svg{background:#f6f8fa;border-radius:4px}.drawn{fill:#2f6feb;fill-opacity:.45}.known{fill:none;stroke:#1b1f24;stroke-width:1.2}\
.plots text{font-size:11px;fill:#57606a}.grid figure{border:1px solid #d8dee4;border-radius:4px;width:min-content;break-inside:avoid}\
.grid figcaption{font:10px/1.35 monospace;color:#57606a;overflow-wrap:anywhere;padding:0 .6em .5em;margin:0}";

impl Evaluation {
    /// Renders the report on a model as HTML.
    #[must_use]
    pub fn html(&self, model: &str) -> String {
        let model = escaped(model);
        let rows = [
            ("valid, of raw strings", Some(self.validity)),
            ("unique, of valid", Some(self.uniqueness)),
            ("not among the known molecules, of unique", self.novelty),
            ("KL score: mean likeness of nine properties", self.kl_score),
            ("internal diversity", Some(self.internal_diversity)),
            ("scaffolds: similarity to the known ones", self.scaffolds.similarity),
            ("scaffolds: distinct, of molecules with rings", Some(self.scaffolds.diversity)),
            ("molecules without rings", Some(self.scaffolds.acyclic)),
            ("molecules with stereo marks", Some(self.stereo)),
            ("the same of the known molecules", self.known_stereo),
        ];
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{model}</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head>\n\
             <body><h1>{model}</h1>\n<p>{} raw strings.</p>\n<table>\n",
            self.strings
        );
        for (name, value) in rows {
            if let Some(value) = value {
                let _ = writeln!(page, "<tr><td>{name}</td><td>{value:.4}</td></tr>");
            }
        }
        page.push_str("</table>\n<h2>Properties</h2>\n");
        if self.properties.iter().any(|property| !property.known.is_empty()) {
            page.push_str("<p>Blue: drawn. Line: known molecules.</p>\n");
        }
        page.push_str("<div class=\"plots\">\n");
        for property in &self.properties {
            plot(&mut page, property);
        }
        page.push_str("</div>\n<h2>Commonest scaffolds</h2>\n<div class=\"grid\">\n");
        for (scaffold, share, known) in &self.scaffolds.commonest {
            let known =
                known.map(|share| format!(", {:.2} % of the known", 100.0 * share)).unwrap_or_default();
            picture(&mut page, scaffold, SCAFFOLD_SIZE, &format!("{:.2} %{known}", 100.0 * share));
        }
        page.push_str("</div>\n<h2>Molecules</h2>\n<div class=\"grid\">\n");
        for molecule in self.molecules.iter().take(MAX_PICTURES) {
            picture(&mut page, molecule, PICTURE, &escaped(molecule));
        }
        page.push_str("</div>\n</body></html>\n");
        page
    }
}

/// Writes a molecule's picture with a line of HTML under it.
fn picture(page: &mut String, smiles: &str, (width, height): (f64, f64), caption: &str) {
    let Ok(molecule) = smiles.parse::<Molecule>() else { return };
    let drawing = chem::drawing(&molecule, width, height);
    let _ = writeln!(
        page,
        "<figure title=\"{}\">{drawing}<figcaption>{caption}</figcaption></figure>",
        escaped(smiles)
    );
}

/// Writes a histogram: drawn molecules as bars, known ones as a line.
fn plot(page: &mut String, property: &Distribution) {
    let all = || property.drawn.iter().chain(&property.known);
    let mut sorted: Vec<f64> = all().copied().collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return;
    }
    // Outliers must not compress the rest: they count in the bars at the ends.
    let far = (sorted.len() as f64 * OUTLIER_SHARE) as usize;
    let (least, most) = (sorted[far], sorted[sorted.len() - 1 - far]);
    // Integers of a short range get one bar each.
    let span = (most - least).max(1.0);
    let step = if all().all(|value| *value == value.round()) {
        (span / MAX_BARS as f64).ceil()
    } else {
        span / MAX_BARS as f64
    };
    let bars = (span / step) as usize + 1;
    let heights = |values: &[f64]| {
        let mut heights = vec![0.0; bars];
        for value in values {
            heights[(((value - least) / step).max(0.0) as usize).min(bars - 1)] += 1.0 / values.len() as f64;
        }
        heights
    };
    let (drawn, known) = (heights(&property.drawn), heights(&property.known));
    let top = drawn.iter().chain(&known).copied().fold(f64::MIN_POSITIVE, f64::max);
    let (width, scale) = (WIDTH / bars as f64, HEIGHT / top);

    let likeness = property.likeness.map(|score| format!(", likeness {score:.3}")).unwrap_or_default();
    let _ = write!(
        page,
        "<figure><figcaption>{}{likeness}</figcaption><svg width=\"{WIDTH}\" height=\"{}\" role=\"img\">",
        property.name,
        HEIGHT + 18.0
    );
    for (n, share) in drawn.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let (x, height) = (n as f64 * width, share * scale);
        let _ = write!(
            page,
            "<rect class=\"drawn\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
            HEIGHT - height
        );
    }
    if !property.known.is_empty() {
        page.push_str("<path class=\"known\" d=\"");
        for (n, share) in known.iter().enumerate() {
            let (x, y) = (n as f64 * width, HEIGHT - share * scale);
            let _ = write!(page, "{}{x:.1} {y:.1}H{:.1}", if n == 0 { 'M' } else { 'L' }, x + width);
        }
        page.push_str("\"/>");
    }
    let y = HEIGHT + 13.0;
    let _ = writeln!(
        page,
        "<text x=\"2\" y=\"{y}\">{least:.0}</text><text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{most:.0}</text></svg></figure>",
        WIDTH - 2.0
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use crate::Evaluation;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_report_holds_figures_a_histogram_for_each_property_and_molecules() {
        let drawn = strings(&["CCO", "CCN", "c1ccccc1", "C("]);
        let evaluation = Evaluation::of(&drawn, &strings(&["CCO", "CCCC"]));

        let page = evaluation.html("my <model>");

        assert!(page.contains("<h1>my &lt;model&gt;</h1>"));
        assert!(page.contains("<td>valid, of raw strings</td><td>0.7500</td>"));
        // Histograms, one scaffold and three molecules.
        assert_eq!(page.matches("<svg").count(), evaluation.properties.len() + 1 + 3);
        assert_eq!(page.matches("class=\"known\"").count(), evaluation.properties.len());
        assert!(page.contains("<figcaption>c1ccccc1</figcaption>"));
        assert!(!page.contains("NaN") && !page.contains("inf"));
        let elsewhere = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "").contains("http");
        assert!(!elsewhere, "nothing is fetched from elsewhere");
    }

    #[test]
    fn a_report_without_molecules_says_so_in_figures() {
        let page = Evaluation::of(&strings(&["C("]), &[]).html("none");

        assert!(page.contains("<td>valid, of raw strings</td><td>0.0000</td>"));
        assert!(!page.contains("<svg"));
    }
}
