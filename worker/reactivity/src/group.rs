//! Functional groups: the role of each atom towards a reagent.
//!
//! Every atom has one [`Group`]. The names are those of textbooks (Clayden, Greeves and Warren, "Organic Chemistry";
//! Smith, "March's Advanced Organic Chemistry"). They are exactly as fine as relative reactivity requires.

use chem::{Order, Structure};

use crate::named::named;
use crate::queries::*;

named! {
/// Functional group of an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    // Nitrogen with only carbon and hydrogen on it.
    Ammonia,
    PrimaryAmine,
    SecondaryAmine,
    TertiaryAmine,
    Aniline,
    SecondaryAniline,
    TertiaryAniline,
    /// Amino group on an azine, or para or ortho to a nitro group.
    PoorAniline,
    Diarylamine,
    Enamine,
    Ammonium,
    // Other nitrogen.
    Hydrazine,
    Hydroxylamine,
    Amidine,
    AmideNitrogen,
    CarbamateNitrogen,
    UreaNitrogen,
    ImideNitrogen,
    SulfonamideNitrogen,
    ThioamideNitrogen,
    Azole,
    Indole,
    Azine,
    Imine,
    Oxime,
    Hydrazone,
    NitrileNitrogen,
    Nitro,
    Azide,
    IsocyanateNitrogen,
    OtherNitrogen,
    // Oxygen.
    Water,
    PrimaryAlcohol,
    SecondaryAlcohol,
    TertiaryAlcohol,
    Phenol,
    Enol,
    AcidOxygen,
    OximeOxygen,
    Hemiacetal,
    BoronicOxygen,
    SilanolOxygen,
    SulfonicOxygen,
    CarbonylOxygen,
    EsterOxygen,
    AnhydrideOxygen,
    SulfonateOxygen,
    SilylEther,
    Acetal,
    Ether,
    ArylEther,
    Peroxide,
    OtherOxygen,
    // Sulfur.
    Thiol,
    Thiophenol,
    Sulfide,
    Disulfide,
    Sulfoxide,
    Sulfone,
    SulfonylHalide,
    ThiocarbonylSulfur,
    OtherSulfur,
    // Carbon that is attacked at a multiple bond to a heteroatom.
    AcylHalide,
    Chloroformate,
    Anhydride,
    Isocyanate,
    ActiveEster,
    Thioester,
    Aldehyde,
    Ketone,
    Acid,
    Ester,
    Carbonate,
    Amide,
    Weinreb,
    Imide,
    Carbamate,
    Urea,
    Nitrile,
    ImineCarbon,
    CarbonDioxide,
    OtherCarbonyl,
    // Carbon with a bond to a metal or metalloid.
    Organometal,
    Organozinc,
    Organoboron,
    Organotin,
    // All other carbon.
    Alkyl,
    Alkene,
    Alkyne,
    TerminalAlkyne,
    Aryl,
    // Everything else.
    Halogen,
    Phosphorus,
    Other,
}
}

/// Returns the group of every atom.
pub fn groups(structure: &Structure) -> Vec<Group> {
    (0..structure.len() as u32).map(|atom| of(structure, atom)).collect()
}

fn of(it: &Structure, atom: u32) -> Group {
    match it.element(atom) {
        N => nitrogen(it, atom),
        O => oxygen(it, atom),
        S => sulfur(it, atom),
        C => carbon(it, atom),
        F | CL | BR | I => Group::Halogen,
        P => Group::Phosphorus,
        _ => Group::Other,
    }
}

fn nitrogen(it: &Structure, atom: u32) -> Group {
    let about = it.at(atom);
    if about.aromatic {
        return aromatic_nitrogen(it, atom);
    }
    if it.is_nitro(atom) {
        return Group::Nitro;
    }
    let nitrogens = it.count(atom, N);
    if about.charge != 0 || it.next_to(atom).any(|next| it.element(next) == N && it.at(next).charge == 1) {
        let in_azide = nitrogens > 0 && !it.is_saturated(atom);
        return match about.charge {
            _ if in_azide => Group::Azide,
            1 if it.degree(atom) == 0 => Group::Ammonia,
            1 if it.is_saturated(atom) && it.count(atom, O) == 0 => Group::Ammonium,
            _ => Group::OtherNitrogen,
        };
    }
    if it.triply(atom).is_some() {
        return Group::NitrileNitrogen;
    }
    if let Some(other) = it.doubly(atom, |_| true) {
        let cumulated = it.around(other).iter().filter(|bond| bond.order == Order::Double).count() > 1;
        return match it.element(other) {
            C if cumulated => Group::IsocyanateNitrogen,
            C if it.count(atom, O) > 0 => Group::Oxime,
            C if nitrogens > 0 => Group::Hydrazone,
            C if it.next_to(other).any(|next| next != atom && it.element(next) == N) => Group::Amidine,
            C => Group::Imine,
            _ => Group::OtherNitrogen,
        };
    }
    acylated_nitrogen(it, atom).unwrap_or_else(|| amine(it, atom))
}

fn aromatic_nitrogen(it: &Structure, atom: u32) -> Group {
    let about = it.at(atom);
    if about.charge != 0 {
        return Group::OtherNitrogen;
    }
    if about.hydrogens == 0 {
        return if it.degree(atom) == 2 { Group::Azine } else { Group::OtherNitrogen };
    }
    let lactam = it.next_to(atom).any(|next| it.is_carbonyl(next));
    let five = it.ring(atom) == 5;
    let others = it
        .distances(atom, 2)
        .into_iter()
        .filter(|&(other, distance)| distance > 0 && it.element(other) == N && it.is_aromatic(other));
    match (lactam, five) {
        (true, _) => Group::AmideNitrogen,
        (false, true) if others.count() > 0 => Group::Azole,
        _ => Group::Indole,
    }
}

/// Group of a nitrogen next to an electron-withdrawing group.
fn acylated_nitrogen(it: &Structure, atom: u32) -> Option<Group> {
    let mut acyls = 0;
    let mut best = None;
    for next in it.next_to(atom) {
        let others = |element| it.next_to(next).any(|other| other != atom && it.element(other) == element);
        let found = match it.element(next) {
            C if it.is_carbonyl(next) => {
                acyls += 1;
                let thio = it.carbonyl(next).is_some_and(|other| it.element(other) == S);
                let single = |element| {
                    it.around(next).iter().any(|bond| {
                        bond.to != atom
                            && bond.order == Order::Single
                            && it.element(bond.to) == element
                            && !it.is_aromatic(bond.to)
                    })
                };
                match () {
                    () if thio => Group::ThioamideNitrogen,
                    () if single(O) => Group::CarbamateNitrogen,
                    () if single(N) => Group::UreaNitrogen,
                    () => Group::AmideNitrogen,
                }
            }
            C if it.is_cyano(next) => Group::SulfonamideNitrogen,
            C if !it.is_aromatic(next) && it.doubly(next, |other| it.element(other) == N).is_some() => {
                Group::Amidine
            }
            S | P if it.oxo(next) > 0 => {
                acyls += usize::from(it.oxo(next) > 1);
                Group::SulfonamideNitrogen
            }
            S if others(O) => Group::SulfonamideNitrogen,
            _ => continue,
        };
        let is_stronger = !matches!((best, found), (Some(Group::SulfonamideNitrogen), _));
        if is_stronger {
            best = Some(found);
        }
    }
    match (acyls, best) {
        (2.., _) => Some(Group::ImideNitrogen),
        (_, best) => best,
    }
}

fn amine(it: &Structure, atom: u32) -> Group {
    let hydrogens = it.hydrogens(atom);
    for next in it.next_to(atom) {
        match it.element(next) {
            N => return Group::Hydrazine,
            O => return Group::Hydroxylamine,
            C | SI => {}
            _ => return Group::OtherNitrogen,
        }
    }
    let aryls: Vec<u32> = it.next_to(atom).filter(|&next| it.is_aromatic(next)).collect();
    let vinyl =
        it.next_to(atom).any(|next| it.element(next) == C && !it.is_aromatic(next) && !it.is_saturated(next));
    match (aryls.len(), hydrogens) {
        (0, _) if vinyl => Group::Enamine,
        (0, 3) => Group::Ammonia,
        (0, 2) => Group::PrimaryAmine,
        (0, 1) => Group::SecondaryAmine,
        (0, _) => Group::TertiaryAmine,
        (2.., _) => Group::Diarylamine,
        (1, 0) => Group::TertiaryAniline,
        (1, _) if is_poor_arene(it, aryls[0]) => Group::PoorAniline,
        (1, 2) => Group::Aniline,
        (1, _) => Group::SecondaryAniline,
    }
}

/// Returns true if a substituent of this aromatic atom shares its electrons with a ring nitrogen or a nitro group.
fn is_poor_arene(it: &Structure, atom: u32) -> bool {
    aromatic_positions(it, atom).iter().any(|&(other, distance)| {
        if distance != 1 && distance != 3 {
            return false;
        }
        let ring_nitrogen = it.element(other) == N && it.degree(other) == 2 && it.hydrogens(other) == 0;
        ring_nitrogen || it.next_to(other).any(|next| it.is_nitro(next))
    })
}

/// Returns true if a nitro group is ortho or para to an aromatic atom.
pub fn has_conjugated_nitro(it: &Structure, atom: u32) -> bool {
    aromatic_positions(it, atom)
        .iter()
        .any(|&(other, distance)| distance != 2 && it.next_to(other).any(|next| it.is_nitro(next)))
}

/// Aromatic atoms near one, with the number of bonds to them: 1 ortho, 2 meta, 3 para. An atom three bonds away
/// counts as para only if two paths of three bonds lead to it; an atom of a fused ring does not.
pub fn aromatic_positions(it: &Structure, atom: u32) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32, u32)> = vec![(atom, 0, 1)];
    let mut next = 0;
    while let Some(&(at, distance, ways)) = found.get(next) {
        next += 1;
        if distance == 3 {
            continue;
        }
        for bond in it.around(at).iter().filter(|bond| bond.order == Order::Aromatic) {
            match found.iter_mut().find(|known| known.0 == bond.to) {
                Some(known) if known.1 == distance + 1 => known.2 += ways,
                Some(_) => {}
                None => found.push((bond.to, distance + 1, ways)),
            }
        }
    }
    let near = found.into_iter().filter(|&(_, distance, ways)| (1..3).contains(&distance) || ways > 1);
    near.filter(|&(_, distance, _)| distance > 0).map(|(atom, distance, _)| (atom, distance)).collect()
}

/// Number of the aromatic atoms near one ([`aromatic_positions`]) that have a neighbour which is `wanted`.
pub fn positions_beside(it: &Structure, atom: u32, wanted: impl Fn(u32) -> bool) -> usize {
    let is_beside = |&(position, _): &(u32, u32)| it.next_to(position).any(&wanted);
    aromatic_positions(it, atom).into_iter().filter(is_beside).count()
}

fn oxygen(it: &Structure, atom: u32) -> Group {
    let about = it.at(atom);
    let neighbours: Vec<u32> = it.next_to(atom).collect();
    if about.aromatic {
        return Group::OtherOxygen;
    }
    if !it.is_saturated(atom) {
        return if it.element(neighbours[0]) == C { Group::CarbonylOxygen } else { Group::OtherOxygen };
    }
    match neighbours[..] {
        [] => Group::Water,
        [next] if about.hydrogens > 0 || about.charge < 0 => hydroxyl(it, atom, next),
        [a, b] => bridging_oxygen(it, atom, a, b),
        _ => Group::OtherOxygen,
    }
}

fn hydroxyl(it: &Structure, atom: u32, next: u32) -> Group {
    match it.element(next) {
        N if it.at(next).charge != 0 => Group::OtherOxygen,
        N => Group::OximeOxygen,
        B => Group::BoronicOxygen,
        SI => Group::SilanolOxygen,
        S | P => Group::SulfonicOxygen,
        O => Group::Peroxide,
        C if it.is_aromatic(next) => Group::Phenol,
        C if it.is_carbonyl(next) => Group::AcidOxygen,
        C if !it.is_saturated(next) => Group::Enol,
        C => {
            let hetero = |other: u32| {
                other != atom && matches!(it.element(other), N | O | S) && it.is_saturated(other)
            };
            if it.next_to(next).any(hetero) {
                return Group::Hemiacetal;
            }
            match it.carbons(next) {
                0 | 1 => Group::PrimaryAlcohol,
                2 => Group::SecondaryAlcohol,
                _ => Group::TertiaryAlcohol,
            }
        }
        _ => Group::OtherOxygen,
    }
}

fn bridging_oxygen(it: &Structure, atom: u32, a: u32, b: u32) -> Group {
    let elements = [it.element(a), it.element(b)];
    let acyls = [a, b].into_iter().filter(|&next| it.is_carbonyl(next) && !it.is_aromatic(next)).count();
    let acetal = [a, b].into_iter().any(|next| {
        it.is_sp3(next)
            && it.next_to(next).any(|other| other != atom && matches!(it.element(other), O | N | S))
    });
    match () {
        () if elements.contains(&SI) => Group::SilylEther,
        () if elements.contains(&S) => Group::SulfonateOxygen,
        () if elements.contains(&O) => Group::Peroxide,
        () if elements.contains(&B) => Group::BoronicOxygen,
        () if elements.contains(&N) => Group::OximeOxygen,
        () if elements != [C, C] => Group::OtherOxygen,
        () if acyls == 2 => Group::AnhydrideOxygen,
        () if acyls == 1 => Group::EsterOxygen,
        () if acetal => Group::Acetal,
        () if it.is_aromatic(a) || it.is_aromatic(b) => Group::ArylEther,
        () => Group::Ether,
    }
}

fn sulfur(it: &Structure, atom: u32) -> Group {
    let about = it.at(atom);
    if about.aromatic {
        return Group::OtherSulfur;
    }
    match it.oxo(atom) {
        2 if it.next_to(atom).any(|next| is_halogen(it.element(next))) => return Group::SulfonylHalide,
        2 => return Group::Sulfone,
        1 => return Group::Sulfoxide,
        _ => {}
    }
    if !it.is_saturated(atom) {
        return Group::ThiocarbonylSulfur;
    }
    let neighbours: Vec<u32> = it.next_to(atom).collect();
    match neighbours[..] {
        [next] if it.element(next) == C && (about.hydrogens > 0 || about.charge < 0) => {
            if it.is_aromatic(next) { Group::Thiophenol } else { Group::Thiol }
        }
        [a, b] if it.element(a) == C && it.element(b) == C => Group::Sulfide,
        [a, b] if it.element(a) == S || it.element(b) == S => Group::Disulfide,
        _ => Group::OtherSulfur,
    }
}

fn carbon(it: &Structure, atom: u32) -> Group {
    let metal = it.next_to(atom).find_map(|next| match it.element(next) {
        LI | MG => Some(Group::Organometal),
        ZN | CU | CD => Some(Group::Organozinc),
        B => Some(Group::Organoboron),
        SN => Some(Group::Organotin),
        _ => None,
    });
    if let Some(metal) = metal {
        return metal;
    }
    if it.is_aromatic(atom) {
        return Group::Aryl;
    }
    if it.carbonyl(atom).is_some() {
        return carbonyl_carbon(it, atom);
    }
    if let Some(other) = it.triply(atom) {
        return match it.element(other) {
            N => Group::Nitrile,
            C if it.hydrogens(atom) == 1 || it.hydrogens(other) == 1 => Group::TerminalAlkyne,
            C => Group::Alkyne,
            _ => Group::Other,
        };
    }
    match it.doubly(atom, |_| true) {
        Some(other) if it.element(other) == N => Group::ImineCarbon,
        Some(other) if it.element(other) == C => Group::Alkene,
        Some(_) => Group::Other,
        None => Group::Alkyl,
    }
}

fn carbonyl_carbon(it: &Structure, atom: u32) -> Group {
    let doubles = it.around(atom).iter().filter(|bond| bond.order == Order::Double);
    let cumulated: Vec<u8> = doubles.map(|bond| it.element(bond.to)).collect();
    if cumulated.len() > 1 {
        return if cumulated.contains(&N) || cumulated.contains(&C) {
            Group::Isocyanate
        } else {
            Group::CarbonDioxide
        };
    }
    let single: Vec<u32> =
        it.around(atom).iter().filter(|bond| bond.order == Order::Single).map(|bond| bond.to).collect();
    let has = |element: u8| single.iter().any(|&next| it.element(next) == element);
    let halogen = single.iter().any(|&next| is_halogen(it.element(next)));
    let oxygens: Vec<u32> = single.iter().copied().filter(|&next| it.element(next) == O).collect();
    if halogen {
        return if has(O) || has(N) { Group::Chloroformate } else { Group::AcylHalide };
    }
    if oxygens.iter().any(|&oxygen| of(it, oxygen) == Group::AnhydrideOxygen) {
        return Group::Anhydride;
    }
    if has(N) {
        return nitrogen_carbonyl(it, &single, !oxygens.is_empty());
    }
    match oxygens[..] {
        [_, _] => Group::Carbonate,
        [oxygen] if it.degree(oxygen) == 1 => Group::Acid,
        [oxygen] if is_activating(it, atom, oxygen) => Group::ActiveEster,
        [_] => Group::Ester,
        _ if has(S) => Group::Thioester,
        _ if it.hydrogens(atom) > 0 => Group::Aldehyde,
        _ if single.iter().all(|&next| it.element(next) == C) => Group::Ketone,
        _ => Group::OtherCarbonyl,
    }
}

fn nitrogen_carbonyl(it: &Structure, single: &[u32], oxygen: bool) -> Group {
    let nitrogens: Vec<u32> = single.iter().copied().filter(|&next| it.element(next) == N).collect();
    // An acyl azole is an acylating agent.
    if nitrogens.iter().any(|&nitrogen| {
        it.is_aromatic(nitrogen) && it.ring(nitrogen) == 5 && nearest_nitrogen(it, nitrogen) && !oxygen
    }) {
        return Group::ActiveEster;
    }
    if oxygen {
        return Group::Carbamate;
    }
    match nitrogens[..] {
        [_, _] => Group::Urea,
        [nitrogen] if it.count(nitrogen, O) == 1 && it.is_saturated(nitrogen) && it.degree(nitrogen) == 3 => {
            Group::Weinreb
        }
        [nitrogen] => match of(it, nitrogen) {
            Group::ImideNitrogen => Group::Imide,
            Group::Azide => Group::ActiveEster,
            _ => Group::Amide,
        },
        _ => Group::OtherCarbonyl,
    }
}

/// Returns true if another aromatic nitrogen is within two bonds.
fn nearest_nitrogen(it: &Structure, atom: u32) -> bool {
    it.distances(atom, 2)
        .into_iter()
        .any(|(other, distance)| distance > 0 && it.element(other) == N && it.is_aromatic(other))
}

/// Returns true if the oxygen of an ester is part of a leaving group that makes the ester an acylating agent.
fn is_activating(it: &Structure, carbon: u32, oxygen: u32) -> bool {
    it.next_to(oxygen).filter(|&next| next != carbon).any(|next| {
        it.element(next) == N
            || (it.is_aromatic(next)
                && (it
                    .next_to(next)
                    .filter(|&other| it.element(other) == C)
                    .any(|other| it.count(other, F) > 0)
                    || aromatic_positions(it, next)
                        .iter()
                        .any(|&(other, _)| it.next_to(other).any(|further| it.is_nitro(further)))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of a molecule in the order of its canonical SMILES.
    fn named(smiles: &str) -> Vec<Group> {
        groups(&Structure::of(&smiles.parse().unwrap()))
    }

    #[test]
    fn nitrogens_are_classified_by_their_electron_acceptors() {
        let nitrogen = |smiles: &str| {
            let structure = Structure::of(&smiles.parse().unwrap());
            let at = (0..structure.len() as u32).find(|&atom| structure.element(atom) == N).unwrap();
            groups(&structure)[at as usize]
        };

        let cases = [
            ("CCN", Group::PrimaryAmine),
            ("C1CCNCC1", Group::SecondaryAmine),
            ("Nc1ccccc1", Group::Aniline),
            ("Nc1ccc(cc1)[N+](=O)[O-]", Group::PoorAniline),
            ("CNC(C)=O", Group::AmideNitrogen),
            ("CNC(=O)OC", Group::CarbamateNitrogen),
            ("O=C1CCC(=O)N1", Group::ImideNitrogen),
            ("CS(N)(=O)=O", Group::SulfonamideNitrogen),
            ("c1ccc2[nH]ccc2c1", Group::Indole),
            ("CC#N", Group::NitrileNitrogen),
            ("CC=NO", Group::Oxime),
            ("CN=C=O", Group::IsocyanateNitrogen),
            ("CN=[N+]=[N-]", Group::Azide),
            ("C[N+](=O)[O-]", Group::Nitro),
            ("CNN", Group::Hydrazine),
        ];
        for (smiles, expected) in cases {
            assert_eq!(nitrogen(smiles), expected, "{smiles}");
        }
    }

    #[test]
    fn carbonyl_groups_are_classified_by_their_leaving_groups() {
        for (smiles, expected) in [
            ("CC(=O)Cl", Group::AcylHalide),
            ("COC(=O)Cl", Group::Chloroformate),
            ("CC(=O)OC(C)=O", Group::Anhydride),
            ("CC=O", Group::Aldehyde),
            ("CC(C)=O", Group::Ketone),
            ("CC(=O)O", Group::Acid),
            ("COC(C)=O", Group::Ester),
            ("CC(=O)N(C)OC", Group::Weinreb),
            ("CC(N)=O", Group::Amide),
            ("CC(=O)n1ccnc1", Group::ActiveEster),
            ("CN=C=O", Group::Isocyanate),
            ("CSC(C)=O", Group::Thioester),
        ] {
            assert!(named(smiles).contains(&expected), "{smiles}: {:?}", named(smiles));
        }
    }
}
