//! Named reactions whose intermediate takes another course with this substrate.
//!
//! Sources: Lichtenthaler, Chem. Rev. 1961, 61, 607, for the Perkow reaction; Gawley, Org. React. 1988, 35, 1, for oximes with a heteroatom on the α-carbon, which fragment; Dömling
//! and Ugi, Angew. Chem. Int. Ed. 2000, 39, 3168, for isocyanides, whose nitrilium ion is linear; Corbridge, "Phosphorus" (2013), chapter 5, for triesters of phosphoric acid; Joule
//! and Mills, "Heterocyclic Chemistry" (2010), chapters 25 and 28, for aminopyrazoles; Stetter, Angew. Chem. Int. Ed. Engl. 1976, 15, 639, and Charette and Beauchemin, Org. React.
//! 2001, 58, 1, for the reactions that bear their names; Coldham and Hufton, Chem. Rev. 2005, 105, 2765, for azomethine ylides; Maryanoff and
//! Reitz, Chem. Rev. 1989, 89, 863, for phosphonates, which need an acceptor; Grandberg, Chem. Heterocycl. Compd. 1974, 10, 501, for tryptamines of halo aldehydes.

use chem::Order;

use crate::carbon_acid::is_active_methylene;
use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::event::Event;
use crate::fischer::closes_indole;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Largest ring that the nitrilium ion of an isocyanide cannot close.
const LARGEST_WITHOUT_NITRILIUM: u8 = 9;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`], [`Refusal::Strained`] or [`Refusal::NoLeavingGroup`], as a chemist would say it.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        let is_diverted = match *event {
            Event::Alkylation { nucleophile, carbon, leaving } => is_perkow(it, nucleophile, carbon, leaving),
            Event::Cleavage { atom, root } => leaves_like_alkyl(step, atom, root),
            Event::Olefination { ylide, carbon } => {
                let is_own_aldehyde = |atom: u32| {
                    it.group(atom) == Group::Aldehyde
                        && step.is_untouched(atom)
                        && step.are_in_same_molecule(atom, ylide)
                };
                step.atoms().any(is_own_aldehyde) || is_plain_ylide_on_acid(step, ylide, carbon)
            }
            Event::Deoxyhalogenation { carbon, oxygen } => opens_epoxide_inside(step, carbon, oxygen),
            Event::AromaticSubstitution { carbon, element: CL, .. } => {
                loses_oxide(step, carbon) && step.atoms().any(|atom| is_free_alcohol(step, atom))
            }
            Event::AromaticSubstitution { carbon, electrophile: Some(acyl), .. } => {
                closes_on_azole_nitrogen(step, carbon, acyl)
            }
            _ => false,
        };
        if is_diverted {
            return Err(Refusal::CompetingGroup);
        }
        let is_inert = match *event {
            Event::Olefination { ylide, .. } => is_plain_phosphonate(it, ylide),
            Event::Arylation { nucleophile, carbon, leaving } => {
                is_heavy_halogen(it.element(leaving))
                    && it.is_amine(nucleophile)
                    && is_on_free_imidazopyridine(it, carbon)
            }
            Event::ReductiveAmination { nitrogen, .. } => it.group(nitrogen) == Group::ImideNitrogen,
            Event::NitrogenOxidation { nitrogen } => {
                is_beside_chloride_of_diazine(it, nitrogen)
                    || is_poor_chloropyridine(it, nitrogen)
                        && step.atoms().any(|atom| is_perbenzoic(it, atom))
            }
            Event::ConjugateAddition { nucleophile, carbon, partner } => {
                it.group(nucleophile) == Group::Organometal && is_isolated_alkene(it, [carbon, partner])
            }
            Event::Acetalisation { carbon } => is_chloromethylated_acid(step, carbon),
            _ => false,
        };
        if is_inert {
            return Err(Refusal::Unreactive);
        }
    }
    if step.atoms().any(|sulfur| is_thiourea_between_two(step, sulfur)) {
        return Err(Refusal::CompetingGroup);
    }
    for (from, to) in step.joined() {
        if closes_by_isocyanide(step, from, to) {
            return Err(Refusal::Strained);
        }
        let is_lost = fragments(step, from, to)
            || is_stetter(step, from, to) && step.atoms().any(|atom| is_open_nucleophile(step, atom))
            || is_simmons_smith(step, from, to) && step.atoms().any(|atom| is_alkylated(step, atom));
        if is_lost {
            return Err(Refusal::CompetingGroup);
        }
        if gives_half_a_hydrazine(step, from, to) {
            return Err(Refusal::NoLeavingGroup);
        }
        if is_ylide_of_acylated_amine(step, from, to) {
            return Err(Refusal::Unreactive);
        }
        if is_ritter_beside_sulfone(step, from, to) {
            return Err(Refusal::Unreactive);
        }
        if is_outer_ketone_of_three(step, from, to)
            || closes_before_indole(step, from, to)
            || is_cyanide_on_ring_halide(step, from, to)
        {
            return Err(Refusal::CompetingGroup);
        }
        let is_aryl_ester = |atom: u32| is_ester_of_phenol(step, atom);
        if is_thionated_between_nitrogens(step, from, to)
            || is_amine_on_oxoazine(step, from, to) && step.atoms().any(is_aryl_ester)
        {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for the phosphorus of a phosphite and the carbon of a chloride or bromide beside an aldehyde or ketone: the product is the enol phosphate.
fn is_perkow(it: &Facts, phosphorus: u32, carbon: u32, leaving: u32) -> bool {
    it.element(phosphorus) == P
        && it.count(phosphorus, O) == 3
        && it.oxo(phosphorus) == 0
        && matches!(it.element(leaving), CL | BR)
        && it.next_to(carbon).any(|acyl| match it.group(acyl) {
            Group::Aldehyde => true,
            Group::Ketone => it.element(leaving) == CL,
            _ => false,
        })
}

/// Returns true for the nitrogen of an oxime and the carbon that leaves the oxime's own for it, if either side has a free hydroxyl or amino group on its α-carbon: that bond breaks to the nitrile and a
/// carbonyl compound.
fn fragments(step: &Step<'_>, nitrogen: u32, migrating: u32) -> bool {
    let it = &step.before;
    let pushes =
        |next: u32| it.is_hydroxyl(next) || it.is_amine(next) || it.group(next) == Group::TertiaryAmine;
    let bears_donor = |alpha: u32| it.is_sp3(alpha) && it.next_to(alpha).any(pushes);
    it.group(nitrogen) == Group::Oxime
        && it.next_to(nitrogen).any(|carbon| {
            it.element(carbon) == C
                && step.lost(carbon).any(|(gone, _)| gone == migrating)
                && it.next_to(carbon).any(bears_donor)
        })
}

/// Returns true for an isocyanide and a carbonyl group or imine of its own molecule that would close a small ring.
fn closes_by_isocyanide(step: &Step<'_>, isocyanide: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.is_cyano(isocyanide)
        && it.degree(isocyanide) == 1
        && it
            .triply(isocyanide)
            .is_some_and(|nitrogen| it.at(nitrogen).charge == 1 && it.carbons(nitrogen) == 2)
        && matches!(it.group(carbon), Group::Aldehyde | Group::Ketone | Group::ImineCarbon)
        && closed_ring_size(step, isocyanide, carbon).is_some_and(|ring| ring <= LARGEST_WITHOUT_NITRILIUM)
}

/// Returns true for the carbon of an alkyl group that leaves a phosphate while another primary one stays, as open to the halide ion. Methyl and benzyl groups go first, and cyanoethyl groups by elimination.
fn leaves_like_alkyl(step: &Step<'_>, oxygen: u32, root: u32) -> bool {
    let it = &step.before;
    let is_plain = |alkyl: u32| {
        it.is_sp3(alkyl)
            && it.hydrogens(alkyl) == 2
            && !it.is_benzylic_or_allylic(alkyl)
            && it.next_to(alkyl).all(|next| match it.element(next) {
                O => next == oxygen || it.count(next, P) == 1,
                C => it.is_sp3(next) && !it.is_alpha(next) && it.carbons(next) < 4,
                _ => false,
            })
    };
    let stays_as_open = |other: u32| {
        it.element(other) == O
            && other != oxygen
            && step.is_untouched(other)
            && it
                .next_to(other)
                .any(|alkyl| it.is_sp3(alkyl) && it.hydrogens(alkyl) > 1 && !step.are_equivalent(alkyl, root))
    };
    is_plain(root)
        && it.next_to(oxygen).any(|phosphorus| {
            it.element(phosphorus) == P
                && it.count(phosphorus, O) == 4
                && it.next_to(phosphorus).any(stays_as_open)
        })
}

/// Returns true for the carbon of an azole that an aminomethylene ester beside it is to acylate, while the ring's free nitrogen at the other side of the amino group closes first: 3-aminopyrazoles give
/// pyrazolo[1,5-a]pyrimidines, and a group on the nitrogen has to keep it.
fn closes_on_azole_nitrogen(step: &Step<'_>, carbon: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_enamine = |nitrogen: u32| {
        it.element(nitrogen) == N
            && !it.is_aromatic(nitrogen)
            && it.next_to(nitrogen).any(|next| it.group(next) == Group::Alkene)
    };
    it.group(acyl) == Group::Ester
        && it.ring(carbon) == 5
        && closed_ring_size(step, carbon, acyl) == Some(6)
        && it.next_to(carbon).any(|ipso| {
            it.is_aromatic_carbon(ipso)
                && it.next_to(ipso).any(is_enamine)
                && it.next_to(ipso).any(|next| it.element(next) == N && it.is_aromatic(next))
                && it.is_on_free_azole(ipso)
        })
}

/// Returns true for the carbon of an aldehyde that becomes a ketone and the end of an open acceptor.
fn is_stetter(step: &Step<'_>, aldehyde: u32, alkene: u32) -> bool {
    let it = &step.before;
    it.group(aldehyde) == Group::Aldehyde
        && it.group(alkene) == Group::Alkene
        && step.image(aldehyde).is_some_and(|image| step.after.group(image) == Group::Ketone)
}

/// Returns true for the free N–H of an azole or amine, or a thiol, which an open acceptor takes.
fn is_open_nucleophile(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    (it.group(atom) == Group::Azole
        || it.is_amine(atom)
        || matches!(it.group(atom), Group::Thiol | Group::Thiophenol))
        && it.hydrogens(atom) > 0
        && step.is_untouched(atom)
}

/// Returns true for the carbon of diiodomethane or chloroiodomethane and an alkene with which it makes a cyclopropane.
fn is_simmons_smith(step: &Step<'_>, methylene: u32, alkene: u32) -> bool {
    let it = &step.before;
    it.count(methylene, I) > 0
        && it.next_to(methylene).filter(|&next| is_heavy_halogen(it.element(next))).count() == 2
        && it.group(alkene) == Group::Alkene
        && step.image(methylene).is_some_and(|image| step.after.is_cyclopropane(image))
}

/// Returns true for an amine, the N–H of an azole, or the nitrogen of an N–H imidazole, which zinc carbenoids alkylate.
fn is_alkylated(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    let is_amine = it.is_amine(atom) || it.group(atom) == Group::TertiaryAmine;
    let is_azole = it.group(atom) == Group::Azole && it.hydrogens(atom) > 0;
    (is_amine || is_azole) && step.is_untouched(atom)
}

/// Returns true for a nitrogen of hydrazine that becomes the amino group of an arene in the place of its halide: the hydrazine stays whole.
fn gives_half_a_hydrazine(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.is_aromatic_carbon(carbon)
        && it.group(nitrogen) == Group::Hydrazine
        && it.hydrogens(nitrogen) == 2
        && step.lost(carbon).any(|(gone, _)| is_halogen(it.element(gone)))
        && step.lost(nitrogen).any(|(gone, order)| it.element(gone) == N && order == Order::Single)
}

/// Returns true for the nitrogen of an amide, carbamate or sulfonamide and an aldehyde that are to make an azomethine ylide, which takes an alkene at the aldehyde's carbon: the iminium ion needs the
/// free pair of an amine.
fn is_ylide_of_acylated_amine(step: &Step<'_>, nitrogen: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_acylated = matches!(
        it.group(nitrogen),
        Group::AmideNitrogen | Group::CarbamateNitrogen | Group::UreaNitrogen | Group::SulfonamideNitrogen
    );
    let is_dipolarophile =
        |other: u32| matches!(it.group(other), Group::Alkene | Group::Alkyne | Group::TerminalAlkyne);
    let takes_alkene = |atom: u32| step.gained(atom).any(|(other, _)| is_dipolarophile(other));
    is_acylated
        && it.group(aldehyde) == Group::Aldehyde
        && step.lost_oxo(aldehyde)
        && takes_alkene(aldehyde)
        && it.next_to(nitrogen).any(|alpha| it.is_sp3(alpha) && takes_alkene(alpha))
}

/// Returns true for the carbonyl group between the nitrogens of a uracil, xanthine or the like that phosphorus pentasulfide is to take though the one across stays, also as the hydroxyl group of the
/// other tautomer: it takes that one first (Joule and Mills 2010, chapters 14 and 27).
fn is_thionated_between_nitrogens(step: &Step<'_>, carbon: u32, sulfur: u32) -> bool {
    let it = &step.before;
    let nitrogens =
        |atom: u32| it.next_to(atom).filter(|&next| it.element(next) == N && it.is_in_ring(next)).count();
    let is_oxo = |next: u32| {
        (it.group(next) == Group::CarbonylOxygen || it.is_hydroxyl(next)) && step.is_untouched(next)
    };
    it.element(sulfur) == S
        && it.is_carbonyl(carbon)
        && it.ring(carbon) == 6
        && nitrogens(carbon) == 2
        && step.lost_oxo(carbon)
        && it.next_to(carbon).filter(|&next| it.element(next) == N).any(|nitrogen| {
            it.next_to(nitrogen).any(|far| far != carbon && it.ring(far) == 6 && it.next_to(far).any(is_oxo))
        })
}

/// Returns true for an alkylamine that is to take the place of the oxygen or sulfur of an aromatic lactam or thione, which needs heat.
fn is_amine_on_oxoazine(step: &Step<'_>, amine: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_taken = |(gone, order): (u32, Order)| order == Order::Double && matches!(it.element(gone), O | S);
    it.is_amine(amine) && it.is_aromatic_carbon(carbon) && step.lost(carbon).any(is_taken)
}

/// Returns true for the oxygen of a phenol's ester that stays, which alkylamines take (March, chapter 16).
fn is_ester_of_phenol(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    it.group(oxygen) == Group::EsterOxygen && it.aryls(oxygen) > 0 && step.is_untouched(oxygen)
}

/// Returns true for the carbon of a phosphonate or phosphine oxide without an acceptor or aryl group, whose alkoxide does not lose phosphate.
fn is_plain_phosphonate(it: &Facts, ylide: u32) -> bool {
    it.next_to(ylide).any(|next| it.element(next) == P && it.count(next, O) == 3)
        && !it.is_benzylic_or_allylic(ylide)
        && it
            .next_to(ylide)
            .all(|next| it.element(next) == P || !it.is_acceptor(next) && it.element(next) == C)
}

/// Returns true for a nitrogen of a diazine beside a carbon with chlorine: a peracid takes water to the chloride first.
fn is_beside_chloride_of_diazine(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::Azine
        && it.ring(nitrogen) == 6
        && it.next_to(nitrogen).any(|next| it.count(next, CL) == 1)
        && aromatic_positions(&it.structure, nitrogen).iter().any(|&(atom, _)| it.element(atom) == N)
}

/// Returns true for the ends of a double bond that no acceptor, arene or second double bond draws on.
fn is_isolated_alkene(it: &Facts, ends: [u32; 2]) -> bool {
    ends.into_iter().all(|end| {
        it.group(end) == Group::Alkene
            && it.next_to(end).all(|next| ends.contains(&next) || it.is_sp3(next) && it.count(next, O) == 0)
    })
}

/// Returns true for formaldehyde that is to join a free acid and take a halide: acyl chlorides and zinc chloride do so.
fn is_chloromethylated_acid(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.group(carbon) == Group::Aldehyde
        && it.hydrogens(carbon) == 2
        && step.gained(carbon).any(|(next, _)| it.group(next) == Group::AcidOxygen)
        && step.gained(carbon).any(|(next, _)| is_halogen(it.element(next)))
}

/// Returns true for a hydrogen halide and the inner carbon of a terminal epoxide without an arene or double bond on it: the halide takes the end.
fn opens_epoxide_inside(step: &Step<'_>, carbon: u32, oxygen: u32) -> bool {
    let it = &step.before;
    it.ring(oxygen) == 3
        && it.hydrogens(carbon) == 1
        && !it.is_benzylic_or_allylic(carbon)
        && it.next_to(oxygen).any(|end| end != carbon && it.hydrogens(end) == 2)
        && step
            .gained(carbon)
            .any(|(halide, _)| is_heavy_halogen(it.element(halide)) && it.degree(halide) == 0)
}

/// Returns true for a nitrile and a tertiary carbon two bonds from a sulfonyl group, which bears no cation.
fn is_ritter_beside_sulfone(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.group(nitrogen) == Group::NitrileNitrogen
        && it.element(carbon) == C
        && it.next_to(carbon).any(|alpha| {
            it.element(alpha) == C
                && it.next_to(alpha).any(|sulfur| it.element(sulfur) == S && it.oxo(sulfur) == 2)
        })
}

/// Returns true for a metal that is to take the ketone beside the middle one of three carbonyl groups, which it takes first.
fn is_outer_ketone_of_three(step: &Step<'_>, metal: u32, ketone: u32) -> bool {
    let it = &step.before;
    let is_middle = |next: u32| {
        it.group(next) == Group::Ketone
            && step.is_untouched(next)
            && it.next_to(next).filter(|&acyl| it.is_carbonyl(acyl)).count() == 2
    };
    it.element(metal) == C
        && it.group(ketone) == Group::Ketone
        && it.next_to(ketone).filter(|&acyl| it.is_carbonyl(acyl)).count() == 1
        && it.next_to(ketone).any(is_middle)
}

/// Returns true for the arene of a hydrazine and the carbon beside the carbonyl group of a 4-halobutanal: the hydrazone closes on the halide, to the tryptamine or the pyrazoline.
fn closes_before_indole(step: &Step<'_>, arene: u32, alpha: u32) -> bool {
    let it = &step.before;
    closes_indole(step, arene, alpha).is_some()
        && it
            .distances(alpha, 3)
            .into_iter()
            .any(|(atom, _)| it.is_alkyl_halide(atom) && step.is_untouched(atom))
}

/// Returns true for cyanide and a secondary halide of a ring of six, which it eliminates.
fn is_cyanide_on_ring_halide(step: &Step<'_>, cyanide: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.is_cyano(cyanide)
        && it.is_sp3(carbon)
        && it.ring(carbon) == 6
        && it.hydrogens(carbon) == 1
        && !it.is_benzylic_or_allylic(carbon)
        && step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
}

/// Returns true for a carbon of a ring whose N-oxide leaves.
fn loses_oxide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    aromatic_positions(&it.structure, carbon).into_iter().any(|(atom, _)| {
        it.element(atom) == N
            && it.at(atom).charge == 1
            && step.lost(atom).any(|(gone, _)| it.element(gone) == O)
    })
}

/// Returns true for a free alcohol that stays, which phosphoryl chloride takes.
fn is_free_alcohol(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
        && it.hydrogens(atom) > 0
        && step.is_untouched(atom)
}

/// Returns true for a carbon of the pyridine of an imidazopyridine with its N–H and without a nitro group, whose anion holds the halide (Joule and Mills 2010, chapter 28): chemists close the
/// imidazole last.
fn is_on_free_imidazopyridine(it: &Facts, carbon: u32) -> bool {
    let near = || {
        it.distances(carbon, 4)
            .into_iter()
            .map(|(atom, _)| atom)
            .filter(|&atom| it.shares_arene(carbon, atom))
    };
    let nitrogens = |size: u8| near().filter(|&atom| it.element(atom) == N && it.ring(atom) == size).count();
    it.ring(carbon) == 6
        && nitrogens(6) == 1
        && nitrogens(5) == 2
        && near().any(|atom| {
            it.group(atom) == Group::Azole
                && it.hydrogens(atom) > 0
                && it.next_to(atom).any(|next| it.is_shared_by_aromatic_rings(next))
                && it.count(atom, N) == 0
        })
        && !near().any(|atom| it.next_to(atom).any(|next| it.is_nitro(next)))
}

/// Returns true for a phosphorus ylide without an acceptor and a ketone beside a methylene group with a second one, whose proton it takes.
fn is_plain_ylide_on_acid(step: &Step<'_>, ylide: u32, ketone: u32) -> bool {
    let it = &step.before;
    it.next_to(ylide).all(|next| !it.is_acceptor(next))
        && it.next_to(ketone).any(|alpha| {
            is_active_methylene(it, alpha)
                && it.next_to(alpha).any(|next| it.element(next) == S)
                && step.is_untouched(alpha)
        })
}

/// Returns true for the nitrogen of a pyridine with a halogen beside it and an acceptor on the ring, which m-chloroperoxybenzoic acid leaves; trifluoroperoxyacetic acid takes it (Joule and Mills 2010, chapter
/// 8).
fn is_poor_chloropyridine(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::Azine
        && it.ring(nitrogen) == 6
        && it.next_to(nitrogen).any(|ring| it.next_to(ring).any(|next| is_halogen(it.element(next))))
        && aromatic_positions(&it.structure, nitrogen).iter().any(|&(ring, _)| it.bears_acceptor(ring))
}

/// Returns true for the outer oxygen of a peroxybenzoic acid.
fn is_perbenzoic(it: &Facts, oxygen: u32) -> bool {
    let is_benzoyl = |acyl: u32| it.is_carbonyl(acyl) && it.aryls(acyl) > 0;
    it.is_hydroxyl(oxygen)
        && it.next_to(oxygen).any(|inner| it.element(inner) == O && it.next_to(inner).any(is_benzoyl))
}

/// Returns true for the sulfur of thiourea that is to join an alkyl halide and an aryl halide in one step: the isothiouronium salt of the first has lost its nucleophile.
fn is_thiourea_between_two(step: &Step<'_>, sulfur: u32) -> bool {
    let it = &step.before;
    let joins = |wanted: &dyn Fn(u32) -> bool| step.gained(sulfur).any(|(carbon, _)| wanted(carbon));
    it.element(sulfur) == S
        && step.lost(sulfur).any(|(carbon, _)| it.element(carbon) == C && it.count(carbon, N) == 2)
        && joins(&|carbon| it.is_sp3(carbon))
        && joins(&|carbon| it.is_aromatic_carbon(carbon))
}
