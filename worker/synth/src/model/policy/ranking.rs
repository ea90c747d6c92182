//! Probabilities of templates and of the sites that they match at.

use chem::{Matches, Site};

/// Matching template with the probability that the network gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Row of the template.
    pub template: u32,
    /// Probability between 0 and 1; those of all matching templates sum to 1.
    pub probability: f32,
}

/// Templates that match a molecule, most probable first, ties by row.
#[derive(Debug, Default)]
pub struct Ranking {
    templates: Box<[Ranked]>,
    /// Probability shares of the sites, if the network distinguishes sites.
    sites: Option<SiteShares>,
}

/// Share of a template's probability at each of its sites.
#[derive(Debug)]
struct SiteShares {
    matches: Matches,
    /// Start of the shares of each match.
    starts: Box<[u32]>,
    shares: Box<[f32]>,
}

impl Ranking {
    /// Applies a softmax to one score per template.
    pub fn of_templates(matches: &Matches, mut scores: Vec<f32>) -> Self {
        softmax(&mut scores);
        let rows = matches.templates.iter().map(|found| found.template);
        Self { templates: sorted(rows.zip(scores)), sites: None }
    }

    /// Applies a softmax to one score for each site of each template, or one for a template without sites.
    pub fn of_sites(matches: Matches, mut scores: Vec<f32>) -> Self {
        softmax(&mut scores);
        let mut starts = Vec::with_capacity(matches.templates.len());
        let mut templates = Vec::with_capacity(matches.templates.len());
        let mut start = 0;
        for found in &matches.templates {
            let shares = &mut scores[start..start + found.count.max(1) as usize];
            let total: f32 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= total.max(f32::MIN_POSITIVE));
            templates.push((found.template, total));
            starts.push(start as u32);
            start += shares.len();
        }
        let sites = SiteShares { matches, starts: starts.into(), shares: scores.into() };
        Self { templates: sorted(templates.into_iter()), sites: Some(sites) }
    }

    /// The templates, most probable first.
    pub fn templates(&self) -> &[Ranked] {
        &self.templates
    }

    /// Share of a template's probability at these sites, above 0 and at most 1. It is 1 if the network does not
    /// distinguish sites, or if the template's sites are unknown.
    pub fn share(&self, template: u32, sites: &[Site]) -> f32 {
        self.share_of(template, sites).unwrap_or(1.0).clamp(f32::MIN_POSITIVE, 1.0)
    }

    fn share_of(&self, template: u32, used: &[Site]) -> Option<f32> {
        let known = self.sites.as_ref()?;
        let at = known.matches.templates.binary_search_by_key(&template, |found| found.template).ok()?;
        let sites = known.matches.sites_of(&known.matches.templates[at]);
        let shares = &known.shares[known.starts[at] as usize..][..sites.len()];
        let mut here =
            sites.iter().zip(shares).filter(|(site, _)| used.contains(site)).map(|(_, share)| share);
        let first = here.next()?;
        Some(first + here.sum::<f32>())
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        let sites = self.sites.as_ref().map_or(0, |sites| {
            size_of_val(&sites.matches.sites[..])
                + size_of_val(&sites.matches.templates[..])
                + size_of_val(&*sites.starts)
                + size_of_val(&*sites.shares)
        });
        size_of_val(&*self.templates) + sites
    }
}

fn softmax(scores: &mut [f32]) {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - top).exp());
    let total: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}

fn sorted(templates: impl Iterator<Item = (u32, f32)>) -> Box<[Ranked]> {
    let mut ranked: Vec<Ranked> =
        templates.map(|(template, probability)| Ranked { template, probability }).collect();
    ranked.sort_unstable_by(|a, b| b.probability.total_cmp(&a.probability).then(a.template.cmp(&b.template)));
    ranked.into()
}

#[cfg(test)]
mod tests {
    use chem::{Match, Molecule, PreparedMolecule, Template, TemplateIndex};

    use super::*;

    /// Matches of an oxidation at both alcohols of propanediol, and of a template at one site.
    fn matches() -> Matches {
        let templates =
            ["[C:1]-[OH:2]>>[C:1]=[O:2]", "[OH:1]-[C:2]-[C:3]-[C:4]-[OH:5]>>[O:1]=[C:2]-[C:3]-[C:4]=[O:5]"]
                .map(|smarts| Template::parse(smarts).unwrap());
        let index = TemplateIndex::new((0..).zip(&templates));
        index.matches(&PreparedMolecule::new(&"OCCCO".parse::<Molecule>().unwrap()))
    }

    #[test]
    fn a_templates_probability_is_the_sum_of_its_sites() {
        let ranking = Ranking::of_sites(matches(), vec![0.0, 3.0_f32.ln(), 0.0]);

        let ranked = ranking.templates();
        assert_eq!((ranked[0].template, ranked[1].template), (0, 1));
        assert!((ranked[0].probability - 0.8).abs() < 1e-6 && (ranked[1].probability - 0.2).abs() < 1e-6);
        let found = matches();
        let sites = found.sites_of(&found.templates[0]);
        assert!((ranking.share(0, &sites[..1]) - 0.25).abs() < 1e-6);
        assert!((ranking.share(0, &sites[1..]) - 0.75).abs() < 1e-6);
        assert!((ranking.share(0, sites) - 1.0).abs() < 1e-6);
        assert_eq!(ranking.share(0, &[]), 1.0);
    }

    #[test]
    fn a_template_that_matches_nobody_knows_where_has_one_score() {
        let matches =
            Matches { sites: Vec::new(), templates: vec![Match { template: 5, first: 0, count: 0 }] };

        let ranking = Ranking::of_sites(matches, vec![2.0]);

        assert_eq!(ranking.templates(), [Ranked { template: 5, probability: 1.0 }]);
        assert_eq!(ranking.share(5, &[]), 1.0);
    }

    #[test]
    fn nothing_that_matches_is_nothing_ranked() {
        assert_eq!(Ranking::of_sites(Matches::default(), Vec::new()).templates(), []);
        assert_eq!(Ranking::of_templates(&Matches::default(), Vec::new()).templates(), []);
    }
}
