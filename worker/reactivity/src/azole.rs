//! Regiochemistry of azoles: the nitrogen of a ring that takes a carbon.
//!
//! The N–H of an azole moves between its nitrogens, so the hydrogen as drawn says nothing. The nitrogen with the less
//! crowded neighbours reacts; nitrogens that are alike in this and give different products give a mixture.
//! Sources: Joule and Mills, "Heterocyclic Chemistry", chapters 24 to 27 and 29 (pyrazoles, imidazoles, purines, triazoles and
//! tetrazoles); Begtrup and Larsen, Acta Chem. Scand. 1990, 44, 1050 (ratios of azoles); Koldobskii and Ostrovskii, Russ. Chem.
//! Rev. 1994, 63, 797 (tetrazoles); Carini and others, J. Med. Chem. 1991, 34, 2525 (the aldehyde of losartan).

use std::cmp::Ordering;

use crate::change::{Facts, Step};
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

type Ring = [u32; 5];

/// Size of a carbonyl group, which counts little as it binds the cation of the azolide: the nitrogen beside it reacts before that beside an alkyl
/// or aryl group.
const CARBONYL: i32 = 2;
/// Its size where copper brings an aryl group, from a boronic acid or a halide, without a base that makes an azolide (Chan, Monaco, Wang and Winters, Tetrahedron Lett. 1998,
/// 39, 2933).
const CARBONYL_BY_COPPER: i32 = 6;
/// Size of a cyano group, which is slim, where copper brings the aryl group.
const CYANO: i32 = 3;

/// Difference in crowding from which one nitrogen is clearly favoured.
const DECISIVE: i32 = 2;
/// Crowding that a nitrogen without a nitrogen beside it counts as having more, in a ring that also has N–N: N4 of 1,2,4-triazole.
const WITHOUT_NEIGHBOUR: i32 = 6;

/// Refuses steps that put a carbon on one nitrogen of an azole though another takes it as well.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`] for the minor isomer or one of a mixture.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    for (nitrogen, carbon) in step.joined() {
        if is_oxime_nitrogen_of_oxadiazolone(step, nitrogen, carbon)
            || is_azolone_oxygen(step, nitrogen, carbon)
            || is_oxygen_of_open_pyridone(step, nitrogen, carbon)
            || closes_either_triazole(step, nitrogen, carbon)
        {
            return Err(Refusal::CompetingGroup);
        }
        // Glycosyl groups too, which count as protecting ones.
        let is_refused = step.before.is_sp3(carbon)
            && (is_far_in_pyrimidinone(step, nitrogen)
                || is_beside_nitro(step, nitrogen, carbon)
                || is_behind_group_of_uracil(step, nitrogen)
                || is_of_alkylisocytosine(step, nitrogen, carbon)
                || leaves_like_azole(step, nitrogen))
            || takes_carbon(step, nitrogen, carbon)
                && (leaves_lactam(step, nitrogen) || is_one_of_several(step, nitrogen, carbon));
        if is_refused {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for the nitrogen of an N–H group and that of nitrous acid which close a triazole with an amino group between it and a second N–H group, unlike the first: the diazonium ion takes either
/// (Joule and Mills 2010, chapter 29).
fn closes_either_triazole(step: &Step<'_>, nitrogen: u32, nitroso: u32) -> bool {
    let it = &step.before;
    let is_nitroso = |atom: u32| it.element(atom) == N && it.oxo(atom) == 1 && it.carbons(atom) == 0;
    let is_amino = |atom: u32| it.element(atom) == N && it.hydrogens(atom) > 0 && !it.is_aromatic(atom);
    let is_rival = |atom: u32| {
        atom != nitrogen && is_amino(atom) && step.is_untouched(atom) && !step.are_equivalent(atom, nitrogen)
    };
    let is_diazotised =
        |atom: u32| it.hydrogens(atom) == 2 && step.gained(atom).any(|(other, _)| other == nitroso);
    is_nitroso(nitroso)
        && is_amino(nitrogen)
        && it.next_to(nitrogen).filter(|&ipso| it.is_aromatic(ipso)).any(|ipso| {
            it.next_to(ipso).filter(|&ortho| it.next_to(ortho).any(is_diazotised)).any(|ortho| {
                it.next_to(ortho)
                    .any(|far| far != ipso && it.is_aromatic(far) && it.next_to(far).any(is_rival))
            })
        })
}

/// Returns true for N2 of a 1,2,4-oxadiazol-5-one, beside its oxygen, and an alkyl or acyl carbon, which takes N4, between two carbons (Joule and Mills 2010, chapter 29).
fn is_oxime_nitrogen_of_oxadiazolone(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_acyl = |next: u32| {
        it.is_aromatic(next)
            && it.is_carbonyl(next)
            && it.next_to(next).any(|far| far != nitrogen && it.element(far) == N)
    };
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && !it.is_aromatic(carbon)
        && it
            .next_to(nitrogen)
            .any(|oxygen| it.element(oxygen) == O && it.ring(oxygen) == 5 && it.next_to(oxygen).any(is_acyl))
}

/// Returns true for the hydroxyl group of a carbon between the heteroatoms of an azole and an alkyl halide: the ring is the azolone, whose N–H takes the
/// halide in base (Joule and Mills 2010, chapter 24).
fn is_azolone_oxygen(step: &Step<'_>, oxygen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_hetero = |atom: u32| it.is_aromatic(atom) && it.element(atom) != C;
    let has_lone_pair = |atom: u32| it.element(atom) == N && it.degree(atom) == 2 && it.hydrogens(atom) == 0;
    let is_azolone = |ring: u32| {
        it.ring(ring) == 5
            && it.next_to(ring).filter(|&next| is_hetero(next)).count() == 2
            && it.next_to(ring).any(|next| is_hetero(next) && has_lone_pair(next))
    };
    it.group(oxygen) == Group::Phenol
        && it.hydrogens(oxygen) > 0
        && it.is_sp3(carbon)
        && step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && it.next_to(oxygen).any(is_azolone)
}

/// Returns true for the oxygen of a 2-pyridone with a free position beside its nitrogen, which takes a primary sulfonate or chloride in base, and another halide where a branched chain is beside the
/// oxygen (Joule and Mills 2010, chapter 8). Silver salts take other halides to the oxygen.
fn is_oxygen_of_open_pyridone(step: &Step<'_>, oxygen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_open = |azine: u32| {
        it.group(azine) == Group::Azine && it.next_to(azine).any(|beside| it.hydrogens(beside) > 0)
    };
    let is_halide = step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)));
    let is_slow = |gone: u32| {
        it.group(gone) == Group::SulfonateOxygen
            || it.element(gone) == CL && !it.is_benzylic_or_allylic(carbon) && !it.is_alpha(carbon)
    };
    let takes_no_silver = step.lost(carbon).any(|(gone, _)| is_slow(gone));
    let is_branched = |beside: u32| {
        it.is_aromatic_carbon(beside)
            && it.next_to(beside).any(|chain| it.is_sp3(chain) && it.carbons(chain) > 2)
    };
    it.group(oxygen) == Group::Phenol
        && it.hydrogens(oxygen) > 0
        && it.is_sp3(carbon)
        && it.hydrogens(carbon) > 1
        && it.next_to(oxygen).any(|ring| {
            it.ring(ring) == 6
                && it.next_to(ring).any(is_open)
                && (takes_no_silver || is_halide && it.next_to(ring).any(is_branched))
        })
}

/// Returns true if a nitrogen of an azole takes a carbon, or the nitrogen of a hydroxylamine's ester, that stays there: acyl groups migrate, and groups with a heteroatom
/// on their carbon (tetrahydropyranyl, trimethylsilylethoxymethyl) only protect.
fn takes_carbon(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_protecting = |carbon: u32| {
        it.is_carbonyl(carbon)
            || it.is_sp3(carbon)
                && it.next_to(carbon).any(|next| {
                    matches!(it.element(next), N | O | S) && step.image(next).is_some() && it.ring(next) != 3
                })
    };
    let is_aminating = || {
        it.element(carbon) == N
            && !it.is_aromatic(carbon)
            && step.lost(carbon).any(|(gone, _)| it.element(gone) == O)
    };
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && (it.element(carbon) == C && !is_protecting(carbon) || is_aminating())
        && step
            .image(nitrogen)
            .zip(step.image(carbon))
            .is_some_and(|(from, to)| step.after.bond(from, to).is_some_and(|bond| bond.ring == 0))
}

/// Returns true if the step leaves the N–H of an aromatic lactam, an acid as strong as an azole (2-pyridone 17, pyrazole 19.8:
/// Bordwell 1988). That between the two carbonyl groups of a xanthine is slower.
fn leaves_lactam(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_lactam = |atom: u32| {
        it.group(atom) == Group::AmideNitrogen
            && it.is_aromatic(atom)
            && it.hydrogens(atom) > 0
            && it.next_to(atom).filter(|&next| it.is_carbonyl(next)).count() == 1
            && step.is_untouched(atom)
    };
    azole_ring(it, own).is_some_and(|ring| has_proton(it, &ring)) && step.atoms().any(is_lactam)
}

/// Returns true for the nitrogen across from the carbonyl group of a 4-pyrimidinone or 4-quinazolinone without a second one: that beside the carbonyl group takes the
/// carbon (Joule and Mills, chapter 14).
fn is_far_in_pyrimidinone(step: &Step<'_>, own: u32) -> bool {
    let (it, after) = (&step.before, &step.after);
    let is_near = |nitrogen: u32| {
        after.group(nitrogen) == Group::Azine && after.next_to(nitrogen).any(|next| after.is_carbonyl(next))
    };
    let is_between = |carbon: u32| {
        after.is_aromatic_carbon(carbon) && !after.is_carbonyl(carbon) && after.next_to(carbon).any(is_near)
    };
    it.element(own) == N
        && it.ring(own) == 6
        && step.image(own).is_some_and(|image| {
            after.is_aromatic(image)
                && after.at(image).charge == 0
                && !after.next_to(image).any(|next| after.is_carbonyl(next))
                && after.next_to(image).any(is_between)
        })
}

/// Returns true if another nitrogen of the ring takes the carbon sooner, or as soon and with another product.
fn is_one_of_several(step: &Step<'_>, own: u32, carbon: u32) -> bool {
    let it = &step.before;
    let Some(ring) = azole_ring(it, own) else { return false };
    let is_free = |atom: u32| it.element(atom) == N && it.degree(atom) == 2 && it.at(atom).charge == 0;
    if !has_proton(it, &ring) {
        return false;
    }
    let nitrogens = ring.iter().filter(|&&atom| it.element(atom) == N).count();
    if is_open(it, &ring) {
        return false;
    }
    let is_bulky = it.is_aromatic(carbon) || it.carbons(carbon) > 1;
    if nitrogens == 4 {
        // 5-substituted tetrazoles give both isomers; a large group goes to N2.
        return !(is_bulky && is_inner(it, &ring, 0));
    }
    if nitrogens == 3 && is_inner(it, &ring, 0) && is_by_copper(step, carbon) {
        return false;
    }
    let consecutive = nitrogens == 3 && (0..5).any(|place| is_inner(it, &ring, place));
    (1..5).filter(|&place| is_free(ring[place])).any(|place| {
        let by_boron = step.lost(carbon).any(|(gone, _)| it.element(gone) == B);
        let carbonyl = if by_boron || is_by_copper(step, carbon) { CARBONYL_BY_COPPER } else { CARBONYL };
        let (mine, other) = (crowding(it, &ring, 0, carbonyl), crowding(it, &ring, place, carbonyl));
        match is_fused(it, &ring, 0).cmp(&is_fused(it, &ring, place)) {
            _ if is_alike(it, &ring, place) => false,
            // Benzotriazole gives N1 where its two ends are alike.
            Ordering::Less => consecutive,
            Ordering::Greater => false,
            Ordering::Equal if consecutive && is_fused(it, &ring, 0) => true,
            Ordering::Equal => mine + DECISIVE > other,
        }
    })
}

/// Returns true for an aryl iodide or bromide without SNAr, whose copper the middle nitrogen of a plain 1,2,3-triazole takes (Baxter and others, Org.
/// Process Res. Dev. 2011, 15, 367, suvorexant).
fn is_by_copper(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let mut lost = step.lost(carbon).map(|(gone, _)| it.element(gone));
    it.is_aromatic_carbon(carbon) && lost.any(|gone| matches!(gone, BR | I))
}

fn has_proton(it: &Facts, ring: &Ring) -> bool {
    ring.iter().any(|&atom| it.element(atom) == N && it.hydrogens(atom) > 0)
}

/// Returns true for a ring whose isomer the conditions decide: a nitroimidazole reacts beside the nitro group in acid and away from it in
/// base (metronidazole: Cosar and others, Arzneim.-Forsch. 1966, 16, 23), and a lactam's N–H is another acid.
fn is_open(it: &Facts, ring: &Ring) -> bool {
    let has_nitro = |atom: u32| it.next_to(atom).any(|next| it.is_nitro(next));
    ring.iter().any(|&atom| it.is_carbonyl(atom) || is_imidazole(it, ring) && has_nitro(atom))
}

/// Returns true for a ring without N–N.
fn is_imidazole(it: &Facts, ring: &Ring) -> bool {
    !(0..5).any(|place| it.element(ring[place]) == N && has_nitrogen_beside(it, ring, place))
}

fn has_nitrogen_beside(it: &Facts, ring: &Ring, place: usize) -> bool {
    flanks(ring, place).iter().any(|&atom| it.element(atom) == N)
}

/// Aromatic ring of five that contains an atom, in order from it.
fn azole_ring(it: &Facts, start: u32) -> Option<Ring> {
    let beside = |atom: u32| {
        it.around(atom).iter().filter(|bond| bond.ring == 5 && it.is_aromatic(bond.to)).map(|bond| bond.to)
    };
    beside(start).find_map(|a| {
        beside(a).filter(|&b| b != start).find_map(|b| {
            beside(b).filter(|&c| c != a && c != start).find_map(|c| {
                let closes = |&d: &u32| d != b && d != a && d != start && it.bond(d, start).is_some();
                beside(c).find(closes).map(|d| [start, a, b, c, d])
            })
        })
    })
}

/// Atoms beside a place of the ring, within the ring.
fn flanks(ring: &Ring, place: usize) -> [u32; 2] {
    [ring[(place + 1) % 5], ring[(place + 4) % 5]]
}

/// Returns true for a nitrogen between two nitrogens.
fn is_inner(it: &Facts, ring: &Ring, place: usize) -> bool {
    it.element(ring[place]) == N && flanks(ring, place).iter().all(|&atom| it.element(atom) == N)
}

/// Returns true for a nitrogen beside an atom that the ring shares with another.
fn is_fused(it: &Facts, ring: &Ring, place: usize) -> bool {
    flanks(ring, place).iter().any(|&atom| is_shared(it, atom))
}

fn is_shared(it: &Facts, atom: u32) -> bool {
    it.next_to(atom).filter(|&next| it.bond(atom, next).is_some_and(|bond| bond.ring > 0)).count() == 3
}

/// Crowding of a nitrogen by the groups on the atoms beside it.
fn crowding(it: &Facts, ring: &Ring, place: usize, carbonyl: i32) -> i32 {
    let is_lone = !has_nitrogen_beside(it, ring, place)
        && (0..5).any(|other| it.element(ring[other]) == N && has_nitrogen_beside(it, ring, other));
    let size: i32 = flanks(ring, place).iter().map(|&atom| size(it, ring, atom, carbonyl)).sum();
    size + if is_lone { WITHOUT_NEIGHBOUR } else { 0 }
}

/// Size of the group on an atom of the ring, with that of a `carbonyl` group.
fn size(it: &Facts, ring: &Ring, atom: u32, carbonyl: i32) -> i32 {
    let outside = it.next_to(atom).find(|next| !ring.contains(next));
    let Some(group) = outside.filter(|_| it.element(atom) == C) else { return 0 };
    if is_shared(it, atom) {
        return match it.element(group) {
            N if it.degree(group) == 2 && it.hydrogens(group) == 0 => 3,
            _ if it.is_carbonyl(group) || it.degree(group) == 2 => 4,
            _ => 6,
        };
    }
    match it.element(group) {
        F => 2,
        // The oxygens of an acetal bind the cation as well.
        C if it.is_cyano(group) => carbonyl.min(CYANO),
        _ if it.is_carbonyl(group) || it.is_sp3(group) && it.count(group, O) > 1 => carbonyl,
        _ if it.is_acceptor(group) || it.is_aromatic(group) || it.is_trifluoromethyl(group) => 6,
        // No acyl group of an imidazole sends a carbon to its side, if an alkyl group is at the other.
        C if it.is_sp3(group) && it.hydrogens(group) > 1 && is_imidazole(it, ring) => 3,
        C if it.is_sp3(group) => [8, 6, 4, 4][usize::from(it.hydrogens(group).min(3))],
        _ => 4,
    }
}

/// Returns true if the first nitrogen of the ring and that at `place` have the same surroundings, but for the hydrogen.
fn is_alike(it: &Facts, ring: &Ring, place: usize) -> bool {
    let is_same =
        |a: u32, b: u32| it.element(a) == it.element(b) && branch(it, ring, a) == branch(it, ring, b);
    let walks = |step: usize| (1..5).all(|far| is_same(ring[far], ring[(place + step * far) % 5]));
    walks(1) || walks(4)
}

/// Elements and hydrogens of the group on an atom of the ring, by distance.
fn branch(it: &Facts, ring: &Ring, atom: u32) -> Vec<(u32, u8, u8)> {
    let mut found = vec![(atom, 0)];
    let mut next = 0;
    while let Some(&(here, distance)) = found.get(next) {
        next += 1;
        for other in it.next_to(here) {
            if !ring.contains(&other) && !found.iter().any(|&(known, _)| known == other) {
                found.push((other, distance + 1));
            }
        }
    }
    let mut branch: Vec<(u32, u8, u8)> = found
        .into_iter()
        .skip(1)
        .map(|(atom, distance)| (distance, it.element(atom), it.hydrogens(atom)))
        .collect();
    branch.sort_unstable();
    branch
}

/// Returns true for the nitrogen of an imidazole beside the carbon with its nitro group and a halide: the base that this needs sends it to the other nitrogen (Cosar and
/// others 1966). Halohydrins, sulfates and epoxides react without base.
fn is_beside_nitro(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let has_nitro = |atom: u32| it.next_to(atom).any(|next| it.is_nitro(next));
    let has_hydroxyl = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(|next| it.is_hydroxyl(next));
    step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && !it.next_to(carbon).any(has_hydroxyl)
        && azole_ring(it, nitrogen).is_some_and(|ring| {
            has_proton(it, &ring)
                && !has_nitrogen_beside(it, &ring, 0)
                && flanks(&ring, 0).into_iter().any(has_nitro)
                && ring.iter().filter(|&&atom| it.element(atom) == N).count() == 2
        })
}

/// Returns true for N1 of a uracil with a carbon group at C6 and its N3–H: the base makes two anions, and the group leaves N1 the slower one. Chemists silylate, or build the
/// ring (Joule and Mills 2010, chapter 14).
fn is_behind_group_of_uracil(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let carbonyls = |atom: u32| it.next_to(atom).filter(|&next| it.is_carbonyl(next)).count();
    let is_lactam = |atom: u32| it.group(atom) == Group::AmideNitrogen && it.is_aromatic(atom);
    let bears_group = |ring: u32| {
        it.is_aromatic_carbon(ring)
            && !it.is_shared_by_aromatic_rings(ring)
            && it.next_to(ring).any(|next| it.element(next) == C && !it.is_aromatic(next))
    };
    let is_imide = |&(atom, distance): &(u32, u32)| {
        distance == 2
            && is_lactam(atom)
            && carbonyls(atom) == 2
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
    };
    is_lactam(own)
        && it.ring(own) == 6
        && carbonyls(own) == 1
        && it.next_to(own).any(|next| !it.is_carbonyl(next) && bears_group(next))
        && aromatic_positions(&it.structure, own).iter().any(is_imide)
}

/// Returns true for the nitrogen between the carbonyl group of a 4-pyrimidinone and a carbon with an alkylamino group, whose anion takes a halide on each of its nitrogens and on oxygen
/// (Joule and Mills 2010, chapter 14). Guanines, with a free amino group, take it there.
fn is_of_alkylisocytosine(step: &Step<'_>, own: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_alkylamino = |next: u32| {
        it.element(next) == N
            && !it.is_aromatic(next)
            && it.hydrogens(next) == 1
            && it.next_to(next).all(|far| it.element(far) == C && !it.is_carbonyl(far))
    };
    let is_guanidine = |ring: u32| {
        it.next_to(ring).filter(|&next| it.is_aromatic(next)).all(|next| it.element(next) == N)
            && it.next_to(ring).any(is_alkylamino)
    };
    it.group(own) == Group::AmideNitrogen
        && it.is_aromatic(own)
        && it.ring(own) == 6
        && step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && it.next_to(own).any(|next| it.is_carbonyl(next))
        && it.next_to(own).any(is_guanidine)
}

/// Returns true if the step leaves the N–H of another azole with as many nitrogens, an acid as strong, which takes the halide as well.
fn leaves_like_azole(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let nitrogens = |ring: &Ring| ring.iter().filter(|&&atom| it.element(atom) == N).count();
    let Some(ring) = azole_ring(it, own).filter(|ring| has_proton(it, ring)) else { return false };
    step.atoms().any(|atom| {
        it.group(atom) == Group::Azole
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && !ring.iter().any(|&own| step.are_equivalent(own, atom))
            && azole_ring(it, atom).is_some_and(|other| nitrogens(&other) == nitrogens(&ring))
    })
}
