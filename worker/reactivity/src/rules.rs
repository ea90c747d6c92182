//! Checks a step against all selectivity rules.

use crate::asymmetric::StereoSource;
use crate::change::Step;
use crate::event::{Event, events};
use crate::refusal::Refusal;
use crate::{
    acid_labile_esters, acidity, alkoxide_shift, amine_closure, angular_methyl, arene, aromatisation,
    arylation, attacked_groups, azole, base_labile, beta_lactam, bifunctional, c_h_sites, carbanion,
    carbon_acid, cleavage, closing_product, crowded_alcohol, crowded_amine, crowded_carbon, diverted, donors,
    elimination, ester_exchange, fischer, fluorination, free_acid, hidden_cleavage, kept_group,
    labile_groups, lewis_acid, mechanism, metal_addition, michael_acceptor, mixture, multiple_bond,
    new_organometal, nitrile, origin, phthalide, polar, quinone_methide, redox, richer_ring, rival_base,
    rival_chloroazine, rival_halide, slow_alkylation, slow_pair, small_ring, stereo, stopped_reduction,
    thioester, unactivated, unsuited_reagent, vinylogous, weak_amine, wrong_partner,
};

/// Certainty of the rules about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The rules have compared the sites and know which reacts first.
    Decided,
    /// The rules find no fault, but do not know which site reacts.
    Open,
}

/// A step that the rules accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Soundness {
    /// Certainty of the rules.
    pub certainty: Certainty,
    /// Means by which the step gives one stereoisomer, if neither its precursors nor its template determine it.
    pub stereo_source: Option<StereoSource>,
}

/// Checks a step and returns the first fault, if there is one. Takes tens of microseconds.
///
/// # Errors
/// Returns the reason why a chemist would reject the step.
pub fn check(step: &Step<'_>) -> Result<Soundness, Refusal> {
    let events = events(step);
    mixture::check(step, &events)?;
    bifunctional::check(step, &events)?;
    amine_closure::check(step, &events)?;
    labile_groups::check(step, &events)?;
    beta_lactam::check(step, &events)?;
    acid_labile_esters::check(step, &events)?;
    closing_product::check(step, &events)?;
    unsuited_reagent::check(step, &events)?;
    donors::check(step)?;
    fischer::check(step)?;
    carbanion::check(step, &events)?;
    arylation::chan_lam(step, &events)?;
    azole::check(step)?;
    new_organometal::check(step)?;
    fluorination::check(step)?;
    origin::check(step)?;
    aromatisation::check(step)?;
    quinone_methide::check(step, &events)?;
    elimination::check(step, &events)?;
    michael_acceptor::check(step, &events)?;
    acidity::check(step, &events)?;
    rival_halide::check(step, &events)?;
    rival_chloroazine::check(step, &events)?;
    unactivated::check(step, &events)?;
    rival_base::check(step, &events)?;
    weak_amine::check(step, &events)?;
    slow_pair::check(step, &events)?;
    slow_alkylation::check(step, &events)?;
    base_labile::check(step, &events)?;
    phthalide::check(step, &events)?;
    free_acid::check(step, &events)?;
    richer_ring::check(step, &events)?;
    mechanism::check(step, &events)?;
    multiple_bond::check(step, &events)?;
    hidden_cleavage::check(step, &events)?;
    ester_exchange::check(step, &events)?;
    nitrile::check(step)?;
    small_ring::check(step)?;
    vinylogous::check(step, &events)?;
    carbon_acid::check(step, &events)?;
    diverted::check(step, &events)?;
    crowded_alcohol::check(step, &events)?;
    crowded_amine::check(step, &events)?;
    crowded_carbon::check(step, &events)?;
    metal_addition::check(step)?;
    alkoxide_shift::check(step, &events)?;
    stopped_reduction::check(step, &events)?;
    attacked_groups::check(step, &events)?;
    thioester::check(step, &events)?;
    angular_methyl::check(step, &events)?;
    lewis_acid::check(step, &events)?;
    c_h_sites::check(step, &events)?;
    kept_group::check(step, &events)?;
    wrong_partner::check(step)?;
    let stereo_source = stereo::check(step, &events)?;
    for event in &events {
        polar::check(step, &events, event)?;
        arene::check(step, event)?;
        redox::check(step, event)?;
        cleavage::check(step, event)?;
    }
    let decided = !events.is_empty() && events.iter().all(is_decided);
    let certainty = if decided { Certainty::Decided } else { Certainty::Open };
    Ok(Soundness { certainty, stereo_source })
}

/// Returns true if the tables order the sites at which such an event may happen.
fn is_decided(event: &Event) -> bool {
    !matches!(
        event,
        Event::Functionalisation { .. }
            | Event::Aldol { .. }
            | Event::Heck { .. }
            | Event::DirectArylation { .. }
            | Event::ConjugateAddition { .. }
            | Event::Metathesis { .. }
            | Event::ReductiveEtherification { .. }
            | Event::Degradation { .. }
    )
}

/// Returns the events of the step as readable text.
#[must_use]
pub fn describe(step: &Step<'_>) -> String {
    let names: Vec<String> = events(step).iter().map(|event| format!("{event:?}")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use chem::{PreparedMolecule, Template};

    use super::*;
    use crate::change::Facts;
    use crate::refusal::Refusal;

    const AMIDE: &str =
        "([#6:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[N;+0:4])>>(O-[C;H0;D3;+0:2](-[#6:1])=[O;D1;H0:3]).([N;+0:4])";
    const ETHER: &str = "([C:1]-[O;H0;D2;+0:2]-[c:3])>>(Br-[C:1]).([OH;D1;+0:2]-[c:3])";
    const SNAR: &str = "([c:1]-[N;+0:2])>>(F-[c:1]).([N;+0:2])";
    const ADDITION: &str = "([#6:1]-[C;+0:2]-[OH;D1;+0:3])>>(Br-[Mg]-[#6:1]).([C;+0:2]=[O;H0;D1;+0:3])";
    const KETONE: &str = "([#6:1]-[C;+0:2]=[O;D1:3])>>(Br-[Mg]-[#6:1]).(C-C-O-[C;+0:2]=[O;D1:3])";
    const CYANATION: &str = "([N:2]#[C;+0:3]-[c;+0:1])>>([C-:3]#[N:2]).[cH;+0:1]";
    const BENZYLIC: &str = "([c:1]-[C;+0:2]-Br)>>[c:1]-[CH3;+0:2]";
    const OPENING: &str = "([OH;D1;+0:1]-[C:2]-[C;+0:3]-[NH;D2;+0:4]-[c:5])>>([C:2]1-[C;+0:3]-[O;H0;D2;+0:1]-1).([NH2;D1;+0:4]-[c:5])";
    const SAPONIFICATION: &str = "([C:1](=[O:2])-[OH;D1;+0:3])>>([C:1](=[O:2])-[O;H0;D2;+0:3]-C-C)";
    const NITRATION: &str = "([O-]-[N+](=O)-[c;+0:1])>>[cH;+0:1]";

    /// Checks the step that a template makes of these precursors, written as they stand in the outcome.
    fn verdict(template: &str, product: &str, precursors: &str) -> Result<Certainty, Refusal> {
        soundness(template, product, precursors).map(|soundness| soundness.certainty)
    }

    /// Checks such a step and returns the source of its configuration too.
    fn soundness(template: &str, product: &str, precursors: &str) -> Result<Soundness, Refusal> {
        let template = Template::parse(template).unwrap();
        let written: chem::Molecule = product.parse().unwrap();
        let canonical = chem::Molecule::trusted(&written.canonical_smiles()).unwrap();
        let product = PreparedMolecule::new(&canonical);
        let mut wanted: Vec<String> = precursors
            .split('.')
            .map(|part| part.parse::<chem::Molecule>().unwrap().canonical_smiles())
            .collect();
        wanted.sort();
        let outcomes = template.apply(&product);
        let outcome = outcomes
            .iter()
            .find(|outcome| {
                let mut found: Vec<String> =
                    outcome.precursors.iter().map(|part| part.molecule.canonical_smiles()).collect();
                found.sort();
                found == wanted
            })
            .expect("the template makes these precursors");
        let precursor_facts: Vec<Facts> =
            outcome.precursors.iter().map(|part| Facts::of(&part.molecule)).collect();
        let sources = outcome.precursors.iter().map(|part| &*part.sources);
        let product = Facts::of(product.molecule());
        let step = Step::new(precursor_facts.iter().zip(sources), &product);
        check(&step.with_prochiral(!outcome.made_centres.is_empty()))
    }

    #[test]
    fn the_more_nucleophilic_amine_is_acylated() {
        let right = verdict(AMIDE, "O=C(NCc1cccc(N)c1)c1ccccc1", "NCc1cccc(N)c1.O=C(O)c1ccccc1");
        let wrong = verdict(AMIDE, "O=C(Nc1cccc(CN)c1)c1ccccc1", "NCc1cccc(N)c1.O=C(O)c1ccccc1");

        assert_eq!((right, wrong), (Ok(Certainty::Decided), Err(Refusal::CompetingGroup)));
    }

    #[test]
    fn a_fluoride_leaves_only_an_activated_arene() {
        let activated = verdict(SNAR, "N#Cc1ccc(N2CCOCC2)cc1", "N#Cc1ccc(F)cc1.C1COCCN1");
        let plain = verdict(SNAR, "CN(C)c1ccc(N2CCOCC2)cc1", "CN(C)c1ccc(F)cc1.C1COCCN1");

        assert_eq!((activated, plain), (Ok(Certainty::Decided), Err(Refusal::NotActivated)));
    }

    #[test]
    fn substitutions_invert_and_tertiary_carbon_takes_none() {
        let inverted = "([C:1]-[C@@H;D3;+0:2](-[C:3])-[O;H0;D2;+0:4]-[c:5])>>(Br-[C@H;D3;+0:2](-[C:1])-[C:3]).([OH;D1;+0:4]-[c:5])";
        let right = verdict(inverted, "CC[C@H](C)Oc1ccccc1", "CC[C@@H](C)Br.Oc1ccccc1");
        let retained = verdict(ETHER, "CC[C@H](C)Oc1ccccc1", "CC[C@H](C)Br.Oc1ccccc1");
        let tertiary = verdict(ETHER, "CCC(C)(C)Oc1ccccc1", "CCC(C)(C)Br.Oc1ccccc1");

        assert_eq!(right, Ok(Certainty::Decided));
        assert_eq!((retained, tertiary), (Err(Refusal::Retention), Err(Refusal::Hindered)));
    }

    #[test]
    fn grignard_reagents_bear_no_acid_and_leave_no_aldehyde_alone() {
        let plain = verdict(ADDITION, "OC(C1CC1)c1ccccc1", "Br[Mg]c1ccccc1.O=CC1CC1");
        let acid = verdict(ADDITION, "OC(C1CC1)c1ccc(O)cc1", "Br[Mg]c1ccc(O)cc1.O=CC1CC1");
        let competing =
            verdict(ADDITION, "CC(O)(c1ccccc1)C1CCC(C=O)CC1", "Br[Mg]c1ccccc1.CC(=O)C1CCC(C=O)CC1");

        assert_eq!(plain, Ok(Certainty::Decided));
        assert_eq!((acid, competing), (Err(Refusal::SelfReacting), Err(Refusal::CompetingGroup)));
    }

    #[test]
    fn esters_do_not_stop_at_ketones_and_cyanide_is_no_electrophile() {
        let ester = verdict(KETONE, "O=C(c1ccccc1)C1CC1", "Br[Mg]c1ccccc1.CCOC(=O)C1CC1");
        let fluorinated = verdict(KETONE, "O=C(c1ccccc1)C(F)(F)F", "Br[Mg]c1ccccc1.CCOC(=O)C(F)(F)F");
        let cyanide = verdict(CYANATION, "COc1ccc(C#N)cc1", "COc1ccccc1.[C-]#N");

        assert_eq!((ester, fluorinated), (Err(Refusal::CompetingGroup), Ok(Certainty::Decided)));
        assert_eq!(cyanide, Err(Refusal::NoLeavingGroup));
    }

    #[test]
    fn radicals_brominate_beside_an_anisole_and_bromine_beside_an_aniline_does_not() {
        let ether = verdict(BENZYLIC, "COc1ccccc1CBr", "COc1ccccc1C");
        let aniline = verdict(BENZYLIC, "CN(C)c1ccccc1CBr", "CN(C)c1ccccc1C");

        assert_eq!((ether, aniline), (Ok(Certainty::Open), Err(Refusal::CompetingGroup)));
    }

    #[test]
    fn epoxides_open_at_their_free_end_and_keep_the_chloride_beside_them() {
        let chloride = verdict(OPENING, "OC(CCl)CNc1ccccc1", "ClCC1CO1.Nc1ccccc1");
        let crowded = verdict(OPENING, "CC(CO)Nc1ccccc1", "CC1CO1.Nc1ccccc1");

        assert_eq!((chloride, crowded), (Ok(Certainty::Decided), Err(Refusal::CompetingGroup)));
    }

    #[test]
    fn bromides_beside_a_carbonyl_group_go_before_plain_ones() {
        let before = verdict(ETHER, "COC(=O)C(CCBr)Oc1ccccc1", "COC(=O)C(Br)CCBr.Oc1ccccc1");
        let after = verdict(ETHER, "COC(=O)C(Br)CCOc1ccccc1", "COC(=O)C(Br)CCBr.Oc1ccccc1");

        assert_eq!((before, after), (Ok(Certainty::Decided), Err(Refusal::CompetingGroup)));
    }

    #[test]
    fn hydroxide_takes_an_ester_and_leaves_a_carbamate() {
        let ester = verdict(SAPONIFICATION, "O=C(O)CNC(=O)OCc1ccccc1", "CCOC(=O)CNC(=O)OCc1ccccc1");
        let phenyl = verdict(SAPONIFICATION, "O=C(O)CC(=O)Oc1ccccc1", "CCOC(=O)CC(=O)Oc1ccccc1");

        assert_eq!((ester, phenyl), (Ok(Certainty::Decided), Err(Refusal::CompetingGroup)));
    }

    #[test]
    fn an_amino_pyrazole_is_acylated_at_either_nitrogen() {
        let amine = verdict(AMIDE, "O=C(Nc1cc[nH]n1)c1ccccc1", "Nc1cc[nH]n1.O=C(O)c1ccccc1");
        let poor = verdict(AMIDE, "O=C(Nc1ncccn1)c1ccc(CN)cc1", "NCc1ccc(C(=O)O)cc1.Nc1ncccn1");

        assert_eq!(amine, Ok(Certainty::Decided));
        assert_eq!(poor, Err(Refusal::CompetingGroup));
    }

    #[test]
    fn nitration_goes_where_the_ring_is_richest() {
        let para = verdict(NITRATION, "COc1ccc([N+](=O)[O-])cc1", "COc1ccccc1");
        let meta = verdict(NITRATION, "COc1cccc([N+](=O)[O-])c1", "COc1ccccc1");

        assert_eq!((para, meta), (Ok(Certainty::Decided), Err(Refusal::Position)));
    }

    /// Sources of the configurations of these products, each with its precursor; `None` if the rules refuse the step, or
    /// if it needs none.
    fn stereo_sources(template: &str, steps: &[(&str, &str)]) -> Vec<Option<StereoSource>> {
        let source = |&(product, precursors): &(&str, &str)| {
            soundness(template, product, precursors).ok().and_then(|it| it.stereo_source)
        };
        steps.iter().map(source).collect()
    }

    #[test]
    fn ketones_are_reduced_to_one_enantiomer_by_what_tells_their_sides_apart() {
        let reduction =
            "[C:1]-[CH;D3;+0:2](-[#6:3])-[OH;D1;+0:4]>>[C:1]-[C;H0;D3;+0:2](=[O;H0;D1;+0:4])-[#6:3]";

        let sources = stereo_sources(
            reduction,
            &[
                ("C[C@H](O)c1ccccc1", "CC(=O)c1ccccc1"),
                ("O[C@@H](CCl)c1ccc(F)cc1", "O=C(CCl)c1ccc(F)cc1"),
                ("CCOC(=O)C[C@H](C)O", "CCOC(=O)CC(C)=O"),
                ("C[C@@H](O)CCc1ccccc1", "CC(=O)CCc1ccccc1"),
                ("CC[C@@H](O)CCc1ccccc1", "CCC(=O)CCc1ccccc1"),
                ("CC[C@@H](O)CCCN(C)C", "CCC(=O)CCCN(C)C"),
                ("O[C@H]1CC[C@H](c2ccccc2)CC1", "O=C1CCC(c2ccccc2)CC1"),
                ("CCOC(=O)[C@H](O)c1ccccc1", "CCOC(=O)C(=O)c1ccccc1"),
                ("CC(=O)[C@H](O)c1ccccc1", "CC(=O)C(=O)c1ccccc1"),
            ],
        );

        use StereoSource::{ChiralCatalyst, Enzyme, Resolution, Separation};
        let expected = [
            Some(ChiralCatalyst),
            Some(ChiralCatalyst),
            Some(ChiralCatalyst),
            Some(Enzyme),
            Some(Separation),
            Some(Resolution),
            Some(Separation),
            Some(Separation),
            None,
        ];
        assert_eq!(sources, expected);
    }

    #[test]
    fn alkenes_that_hold_a_catalyst_give_one_enantiomer_and_rings_cis_isomers() {
        let hydrogenation =
            "[C:1]-[CH;D3;+0:2](-[#6:5])-[C;+0:3]-[C,N:4]>>[C:1]-[C;H0;D3;+0:2](-[#6:5])=[C;+0:3]-[C,N:4]";
        let ring = "[C:1]-[CH;D3;+0:2](-[C:5])-[CH;D3;+0:3](-[C:6])-[C:4]>>[C:1]-[C;H0;D3;+0:2](-[C:5])=[C;H0;D3;+0:3](-[C:6])-[C:4]";

        let sources = [
            stereo_sources(hydrogenation, &[("C[C@H](CC(=O)O)c1ccccc1", "CC(=CC(=O)O)c1ccccc1")]),
            stereo_sources(hydrogenation, &[("CCC[C@@H](C)CCc1ccccc1", "CCCC(C)=CCc1ccccc1")]),
            stereo_sources(hydrogenation, &[("C[C@H](CN1CCOCC1)c1ccccc1", "CC(=CN1CCOCC1)c1ccccc1")]),
            stereo_sources(ring, &[("CC[C@@H]1CN(C)C[C@@H]1C(=O)O", "CCC1=C(C(=O)O)CN(C)C1")]),
            stereo_sources(ring, &[("CC[C@@H]1CN(C)C[C@H]1C(=O)O", "CCC1=C(C(=O)O)CN(C)C1")]),
        ]
        .concat();

        use StereoSource::{ChiralCatalyst, Resolution, Separation};
        let expected = [Some(ChiralCatalyst), Some(Separation), Some(Resolution), Some(ChiralCatalyst), None];
        assert_eq!(sources, expected);
    }

    #[test]
    fn a_sulfinyl_group_of_one_configuration_decides_at_its_imine_and_a_racemic_one_does_not() {
        let addition = "[CH;D3;+0:1](-[#6:50])(-[#6:51])-[NH;D2;+0:2]-[S;H0;D3;+0:3]=[O;H0;D1;+0:4]>>[CH;D2;+0:1](-[#6:50])=[N;H0;D2;+0:2]-[S;H0;D3;+0:3]=[O;H0;D1;+0:4].[#6:51]-[Mg;H0;D2;+0]-[Br;H0;D1;+0]";
        let reduction = "[CH;D3;+0:1](-[#6:50])(-[#6:51])-[NH;D2;+0:2]-[S;H0;D3;+0:3]=[O;H0;D1;+0:4]>>[C;H0;D3;+0:1](-[#6:50])(-[#6:51])=[N;H0;D2;+0:2]-[S;H0;D3;+0:3]=[O;H0;D1;+0:4]";

        let sources = [
            stereo_sources(
                addition,
                &[
                    ("C[C@H](N[S@](=O)C(C)(C)C)c1ccccc1", "C[Mg]Br.CC(C)(C)[S@@](=O)N=Cc1ccccc1"),
                    ("C[C@H](NS(=O)C(C)(C)C)c1ccccc1", "C[Mg]Br.CC(C)(C)S(=O)N=Cc1ccccc1"),
                ],
            ),
            stereo_sources(reduction, &[("CC[C@H](N[S@](=O)C(C)(C)C)C1CC1", "CCC(=N[S@](=O)C(C)(C)C)C1CC1")]),
        ]
        .concat();

        use StereoSource::{Auxiliary, Separation};
        assert_eq!(sources, [Some(Auxiliary), Some(Separation), Some(Auxiliary)]);
    }
}
