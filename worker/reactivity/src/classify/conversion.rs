//! Conversions that no event of a step describes: of functional groups, alkenes and halides. Names after Smith, "March's
//! Advanced Organic Chemistry".

use chem::Order;

use super::step::{NewBond, arylates_alkene, is_michael_acceptor};
use crate::change::{Facts, Step};
use crate::electrophile;
use crate::group::Group;
use crate::protecting_group;
use crate::queries::*;
use crate::reaction_class::{ReactionClass, class};

/// Class of a step without events that have a name.
pub fn class(step: &Step<'_>) -> Option<ReactionClass> {
    nitrosation(step)
        .or_else(|| enol_ether(step))
        .or_else(|| enolate_oxygen(step))
        .or_else(|| carbon_carbon(step))
        .or_else(|| step.atoms().find_map(|atom| of_atom(step, atom)))
        .or_else(|| alkene(step))
        .or_else(|| decarboxylation(step))
        .or_else(|| released(step))
        .or_else(|| deprotonation(step))
}

/// A nitroso group on nitrogen or carbon, from nitrous acid (March, chapters 11 and 12).
fn nitrosation(step: &Step<'_>) -> Option<ReactionClass> {
    let made = |&(a, b, _): &(u32, u32, Order)| step.becomes_nitroso(a) || step.becomes_nitroso(b);
    step.change.made.iter().any(made).then_some(class!("nitrosation"))
}

/// A proton that a base takes, and nothing else: the free base of an amidinium ion.
fn deprotonation(step: &Step<'_>) -> Option<ReactionClass> {
    let change = &step.change;
    let is_freed = |atom: u32| {
        step.image(atom).is_some_and(|image| step.after.at(image).charge < step.before.at(atom).charge)
    };
    (change.made.is_empty()
        && change.broken.is_empty()
        && change.added.is_empty()
        && step.atoms().any(is_freed))
    .then_some(class!("deprotonation"))
}

/// Silicon or an acyl group on the oxygen of an enolate.
fn enolate_oxygen(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    step.joined().find_map(|(oxygen, other)| {
        let is_enolate = it.element(oxygen) == O
            && it.doubly(oxygen, |next| matches!(it.group(next), Group::Aldehyde | Group::Ketone)).is_some();
        match it.element(other) {
            SI if is_enolate => Some(class!("silyl enol ether formation")),
            C if is_enolate && it.is_carbonyl(other) => Some(class!("enol ester formation")),
            _ => None,
        }
    })
}

/// Rank of a halide from which a carbanion takes it without a metal: 2-chloropyridine.
const SNAR_OF_CARBON: i32 = 30;

/// Release of a carbonyl group from an enol ether.
fn enol_ether(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let is_enol = |atom: u32| {
        it.element(atom) == C
            && !it.is_aromatic(atom)
            && it.doubly(atom, |next| it.element(next) == C).is_some()
            && it.next_to(atom).any(|next| it.element(next) == O && it.degree(next) > 1)
    };
    let is_end = |atom: u32| it.doubly(atom, |next| it.element(next) == C && is_enol(next)).is_some();
    step.atoms().any(|atom| is_enol(atom) && step.becomes_carbonyl(atom)).then(|| {
        // Palladium puts the arene on the enol ether's carbon that bears the oxygen (Cabri and Candiani, Acc. Chem. Res. 1995, 28, 2).
        // A peracid brings the oxygen of the ketol (Rubottom, Vazquez and Pelegrina, Tetrahedron Lett. 1974, 15, 4319).
        match () {
            () if arylates_alkene(step) => class!("Heck reaction"),
            () if step.atoms().any(|atom| is_end(atom) && step.gains(atom, O)) => {
                class!("Rubottom oxidation")
            }
            () => class!("enol ether hydrolysis"),
        }
    })
}

fn of_atom(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    step.image(atom)?;
    match step.before.element(atom) {
        C => carbon(step, atom),
        N => nitrogen(step, atom),
        O => oxygen(step, atom),
        S => sulfur(step, atom),
        P if step.gains(atom, C) => Some(class!("phosphonium salt formation")),
        P if step.gains(atom, O) || step.gains(atom, N) => Some(class!("phosphorylation")),
        _ => None,
    }
}

/// Returns true for the carbon of a primary alkyl iodide, which zinc dust takes in place (Jackson and others, J. Org. Chem. 1998, 63, 7875).
fn becomes_zinc_iodide(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon) && it.hydrogens(carbon) == 2 && it.count(carbon, I) == 1 && !it.is_alpha(carbon)
}

/// A new C–C bond from a halide, a C–H acid or an alkyne, whose metal compound is made in place.
fn carbon_carbon(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    step.joined().find_map(|(donor, acceptor)| {
        if it.element(donor) != C || it.element(acceptor) != C {
            return None;
        }
        let halide = step.leaving_halogen(donor).is_some() || allylic_halide(step, donor);
        if step.leaving_halogen(donor).is_some() && it.group(acceptor) == Group::AcylHalide {
            return Some(class!("C-acylation"));
        }
        if halide && step.leaving_halogen(acceptor).is_some() && it.group(donor) != Group::AcylHalide {
            return Some(match (it.is_sp3(donor), it.is_sp3(acceptor)) {
                (false, false) => class!("Ullmann biaryl coupling"),
                (true, false) if becomes_zinc_iodide(it, donor) => class!("Negishi coupling"),
                (false, true) if becomes_zinc_iodide(it, acceptor) => class!("Negishi coupling"),
                (false, true) if it.carbons(acceptor) > 0 => class!("cross-electrophile coupling"),
                (true, false) if it.carbons(donor) > 0 => class!("cross-electrophile coupling"),
                _ => class!("organometallic alkylation"),
            });
        }
        if it.is_difluorocarbene_source(donor)
            && it.is_aromatic(acceptor)
            && step.leaving_halogen(acceptor).is_some()
        {
            return Some(class!("trifluoromethylation"));
        }
        let accepts = step.reordered(acceptor).any(|(_, was, now)| was > now)
            || step.lost_oxo(acceptor)
            || it.is_carbonyl(acceptor);
        let epoxide = it.is_beside_epoxide_oxygen(acceptor);
        let hydrogen = step.hydrogens_gained(donor) < 0;
        match it.group(acceptor) {
            Group::Amide if halide && it.hydrogens(acceptor) > 0 => {
                Some(class!("Bouveault aldehyde synthesis"))
            }
            Group::Weinreb if halide => Some(class!("Weinreb ketone synthesis")),
            Group::Ester | Group::Chloroformate | Group::Carbonate if halide && !accepts => None,
            Group::Aldehyde | Group::Ketone if halide && it.is_sp3(donor) && it.is_alpha(donor) => {
                Some(class!("Reformatsky reaction"))
            }
            _ if halide && epoxide => Some(class!("organometallic alkylation")),
            Group::Alkene if halide && accepts && is_michael_acceptor(it, acceptor) => {
                Some(class!("organocuprate addition"))
            }
            group if halide && accepts && group != Group::Alkene => {
                Some(class!("Grignard or organolithium addition"))
            }
            Group::Aldehyde | Group::Ketone if it.group(donor) == Group::TerminalAlkyne && accepts => {
                Some(class!("acetylide addition"))
            }
            Group::Isocyanate if hydrogen => Some(class!("C-acylation")),
            Group::AcylHalide | Group::Anhydride if it.group(donor) == Group::TerminalAlkyne => {
                Some(class!("alkyne acylation"))
            }
            _ if it.group(donor) == Group::Aldehyde && hydrogen && it.group(acceptor) == Group::Alkene => {
                Some(class!("Stetter reaction"))
            }
            _ if hydrogen
                && it.is_sp3(donor)
                && it.is_aromatic(acceptor)
                && step.lost(acceptor).next().is_some() =>
            {
                // A ring that is activated needs no palladium (Culkin and Hartwig, Acc. Chem. Res. 2003, 36, 234).
                Some(if electrophile::aryl(it, acceptor) >= SNAR_OF_CARBON {
                    class!("SNAr C-arylation")
                } else {
                    class!("enolate arylation")
                })
            }
            _ => None,
        }
    })
}

/// Returns true if a carbon bonds while the halogen leaves from the other end of its allyl group (Yamamoto and Asao,
/// Chem. Rev. 1993, 93, 2207).
fn allylic_halide(step: &Step<'_>, donor: u32) -> bool {
    step.carbon_bonds().any(|(a, b, was, now)| {
        let middle = if a == donor { b } else { a };
        (a == donor || b == donor)
            && was > now
            && step.before.next_to(middle).any(|next| next != donor && step.leaving_halogen(next).is_some())
    })
}

fn carbon(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let gained = step.hydrogens_gained(atom);
    match it.group(atom) {
        Group::Nitrile => return nitrile(step, atom),
        Group::Isocyanate => return None,
        Group::ImineCarbon if gained > 0 && !step.forms_bond(atom) => {
            return Some(class!("imine or oxime reduction"));
        }
        _ => {}
    }
    acetal(step, atom)
        .or_else(|| carbon_nitrogen(step, atom))
        .or_else(|| carbonyl(step, atom))
        .or_else(|| step.new_bonds(atom).find_map(|bond| halogen_or_sulfone(step, atom, bond)))
        .or_else(|| (gained > 0 && !step.forms_bond(atom)).then(|| reduction(step, atom)).flatten())
}

fn nitrile(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    if step.hydrogens_gained(atom) > 0 {
        return Some(class!("nitrile reduction"));
    }
    let alkoxy = |bond: &NewBond| bond.element == O && step.after.degree(bond.image) > 1;
    let is_cyanic_acid = step.before.next_to(atom).any(|next| step.before.is_hydroxyl(next));
    if step.new_bonds(atom).any(|bond| alkoxy(&bond)) {
        return Some(if is_cyanic_acid { class!("carbamate formation") } else { class!("Pinner reaction") });
    }
    if is_cyanic_acid && step.gains(atom, N) {
        return Some(class!("urea formation"));
    }
    let bond = step.new_bonds(atom).next()?;
    let hydroxylamine =
        || bond.origin.is_some_and(|origin| step.before.group(origin) == Group::Hydroxylamine);
    match bond.element {
        O => {
            let keeps_nitrogen = !step.lost(atom).any(|(gone, _)| step.before.element(gone) == N);
            let is_alkylated = step.before.triply(atom).is_some_and(|nitrogen| step.gains(nitrogen, C));
            Some(match () {
                () if is_alkylated => class!("Ritter reaction"),
                () if keeps_nitrogen => class!("nitrile hydration"),
                () => class!("nitrile hydrolysis"),
            })
        }
        N if hydroxylamine() => Some(class!("amidoxime formation")),
        // Thiocyanic acid.
        N if step.before.count(atom, S) > 0 => Some(class!("thiourea formation")),
        N => Some(class!("amidine or guanidine formation")),
        S => Some(class!("thionation")),
        _ => None,
    }
}

/// Release of a carbonyl group, or of CH2, from an acetal or thioacetal.
fn acetal(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let hetero = it.next_to(atom).filter(|&next| matches!(it.element(next), N | O | S)).count();
    let lost = step.lost(atom).filter(|&(gone, _)| matches!(it.element(gone), N | O | S)).count();
    let still = it.next_to(atom).any(|next| it.element(next) == O && step.image(next).is_some());
    let released = step.becomes_carbonyl(atom) && (lost > 0 || still);
    (it.is_sp3(atom) && hetero > 1 && released).then_some(class!("acetal cleavage"))
}

/// New C=N and C≡N bonds, and exchange at them.
fn carbon_nitrogen(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let image = step.image(atom)?;
    if step.after.triply(image).is_some_and(|other| step.after.element(other) == N) && !it.is_cyano(atom) {
        let isocyanide = step.after.degree(image) == 1;
        return Some(if isocyanide {
            class!("isocyanide formation")
        } else {
            class!("dehydration to nitrile")
        });
    }
    let bond = step.new_bonds(atom).find(|bond| bond.element == N)?;
    let becomes_imine = step.after.doubly(image, |next| step.after.element(next) == N).is_some();
    let nitrogens = step.after.count(image, N);
    let enamine = step.carbon_bonds().any(|(a, b, was, now)| (a == atom || b == atom) && now > was);
    match it.group(atom) {
        Group::Aldehyde | Group::Ketone if step.lost_oxo(atom) && enamine => {
            Some(class!("enamine formation"))
        }
        Group::Aldehyde | Group::Ketone if step.hydrogens_gained(atom) == 0 => {
            Some(class!("hemiaminal or aminal formation"))
        }
        // Phosphonium salts and oxychlorides make a leaving group of a lactam's oxygen.
        _ if it.is_aromatic(atom) && it.is_carbonyl(atom) && step.after.is_aromatic(image) => {
            Some(class!("deoxyamination"))
        }
        // Isatoic anhydride, whose ring counts as aromatic.
        _ if it.is_aromatic(atom)
            && it.is_carbonyl(atom)
            && step.lost(atom).any(|(gone, _)| it.element(gone) == O) =>
        {
            Some(class!("amide formation from anhydride"))
        }
        _ if it.is_aromatic(atom) && step.lost(atom).next().is_some() => Some(class!("SNAr amination")),
        _ if becomes_imine && has_hydroxyimino(step.after, image) => Some(class!("amidoxime formation")),
        _ if becomes_imine && nitrogens > 1 => Some(class!("amidine or guanidine formation")),
        _ if bond.order == Order::Double => Some(class!("imine formation")),
        _ => None,
    }
}

/// Returns true for the carbon of an oxime.
fn has_hydroxyimino(after: &Facts, carbon: u32) -> bool {
    after
        .doubly(carbon, |nitrogen| {
            after.next_to(nitrogen).any(|next| after.element(next) == O && after.degree(next) == 1)
        })
        .is_some()
}

/// Changes of a carbonyl group, and oxidation to one.
fn carbonyl(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let gains_double =
        |element: u8| step.new_bonds(atom).any(|bond| bond.element == element && bond.order == Order::Double);
    let fluorines = step.new_bonds(atom).filter(|bond| bond.element == F).count();
    let gained = step.hydrogens_gained(atom);
    let halogenated = step.new_bonds(atom).any(|bond| is_halogen(bond.element));
    let softened = step.reordered(atom).any(|(other, was, now)| was > now && it.element(other) == O);
    match it.group(atom) {
        _ if step.lost_oxo(atom) && gains_double(S) => Some(class!("thionation")),
        _ if step.lost_oxo(atom) && fluorines > 1 => Some(class!("deoxyfluorination")),
        Group::Aldehyde if step.gains(atom, O) && gained < 0 => Some(class!("oxidation to carboxylic acid")),
        Group::Aldehyde | Group::Ketone
            if step.lost_oxo(atom) && gained > 0 && step.change.made.is_empty() =>
        {
            Some(class!("deoxygenation"))
        }
        Group::Amide | Group::Imide if halogenated && step.lost_oxo(atom) => {
            Some(class!("imidoyl chloride formation"))
        }
        Group::Amide | Group::Imide if softened && gained > 0 => Some(class!("amide reduction")),
        // By an acid that the step lists, whose oxygen the template takes.
        Group::Amide if step.loses(atom, N, Order::Single) && step.gains(atom, O) => {
            Some(class!("amide hydrolysis"))
        }
        Group::AcylHalide if step.gained(atom).any(|(other, _)| it.is_cyano(other)) => {
            Some(class!("cyanide substitution"))
        }
        _ if step.gains(atom, N) && it.is_carbonyl(atom) && step.lost(atom).next().is_some() => {
            let cumulated = |bond: NewBond| step.after.is_isothiocyanate(bond.image);
            Some(if step.new_bonds(atom).any(cumulated) {
                class!("isothiocyanate formation")
            } else {
                class!("N-acylation")
            })
        }
        _ => None,
    }
}

/// New bonds of carbon to halogen, boron, tin and sulfur(VI).
fn halogen_or_sulfone(step: &Step<'_>, atom: u32, bond: NewBond) -> Option<ReactionClass> {
    let it = &step.before;
    let leaving = step.lost(atom).map(|(gone, _)| gone).next();
    let from_oxygen = leaving.is_some_and(|gone| it.element(gone) == O);
    let from_halogen = leaving.is_some_and(|gone| is_halogen(it.element(gone)));
    let aromatic = it.is_aromatic(atom);
    match bond.element {
        F | CL | BR | I if aromatic && from_oxygen => Some(class!("hydroxyazine to halide")),
        F | CL | BR | I if aromatic && from_halogen => Some(class!("aryl halide exchange")),
        // By fluoride ion, from nitroarenes and trimethylammonium salts (Adams and Clark, Chem. Soc. Rev. 1999, 28, 225).
        F if aromatic && leaving.is_some_and(|gone| it.is_nitro(gone) || it.is_onium(gone)) => {
            Some(class!("nucleophilic fluorination"))
        }
        F | CL | BR | I if from_halogen => Some(class!("halide exchange")),
        F | CL | BR | I
            if it.group(atom) == Group::Aldehyde && it.carbons(atom) == 0 && step.gains(atom, O) =>
        {
            Some(class!("halomethyl ether formation"))
        }
        F | CL | BR | I if from_oxygen || allylic_alcohol(step) => Some(class!("alcohol to halide")),
        F | CL | BR | I if step.hydrogens_gained(atom) < 0 => Some(match it.group(atom) {
            Group::ImineCarbon => class!("hydroximoyl chloride formation"),
            _ if it.is_alpha(atom) => class!("alpha-halogenation"),
            _ => class!("C-H halogenation"),
        }),
        F | CL | BR | I if step.reordered(atom).any(|(_, was, now)| was > now) => Some(halogenation(step)),
        SN => Some(class!("stannylation")),
        S if step.after.next_to(bond.image).any(|next| is_halogen(step.after.element(next))) => {
            Some(class!("sulfonyl chloride formation"))
        }
        S if step.after.oxo(bond.image) > 1 => Some(class!("sulfone formation")),
        _ => None,
    }
}

/// Returns true if a hydroxyl group leaves an allylic carbon.
fn allylic_alcohol(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.change.broken.iter().any(|&(a, b, _)| {
        [(a, b), (b, a)].iter().any(|&(carbon, oxygen)| {
            it.element(oxygen) == O && it.hydrogens(oxygen) > 0 && it.is_benzylic_or_allylic(carbon)
        })
    })
}

/// A substituent that hydrogen replaces.
fn reduction(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    step.lost(atom).find_map(|(gone, order)| match it.element(gone) {
        SI => Some(class!("silyl removal")),
        O if order == Order::Single => Some(class!("deoxygenation")),
        N => Some(class!("deamination")),
        S => Some(class!("desulfurisation")),
        element if is_halogen(element) => Some(class!("dehalogenation")),
        _ => None,
    })
}

fn nitrogen(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let loses_oxygen = step.lost(atom).any(|(gone, _)| it.element(gone) == O);
    if let Some(bond) = step.new_bonds(atom).find(|bond| bond.element == O) {
        // Templates may give the oxygen of a hydroxylamine to its partner.
        return Some(match bond.origin.map(|origin| it.group(origin)) {
            Some(Group::AcidOxygen) if loses_oxygen => class!("active ester formation"),
            Some(Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol)
                if loses_oxygen =>
            {
                class!("Mitsunobu reaction")
            }
            _ => class!("N-oxidation"),
        });
    }
    let joins_nitrogen = step.gained(atom).any(|(other, _)| it.element(other) == N);
    if loses_oxygen && joins_nitrogen && it.oxo(atom) > 0 {
        return Some(class!("arylhydrazine synthesis"));
    }
    if loses_oxygen && step.after.group(step.image(atom)?) == Group::Amidine {
        return Some(class!("amidoxime reduction"));
    }
    if loses_oxygen && (it.at(atom).charge == 1 || it.oxo(atom) > 0) {
        return Some(class!("N-oxide or nitroso reduction"));
    }
    let diazotised = step.gained(atom).any(|(other, _)| it.element(other) == N && it.oxo(other) > 0);
    if diazotised {
        return Some(class!("arylhydrazine synthesis"));
    }
    let is_freed = |gone: u32| it.group(gone) == Group::ImineCarbon && step.image(gone).is_none();
    if step.hydrogens_gained(atom) > 1 && step.lost(atom).any(|(gone, _)| is_freed(gone)) {
        return Some(class!("imine hydrolysis"));
    }
    let cleaved = step.lost(atom).any(|(gone, _)| it.element(gone) == N) && step.hydrogens_gained(atom) > 0;
    cleaved.then_some(class!("N-N bond cleavage"))
}

/// A hydroxyl group that takes a group whose atoms no precursor gives: those of a diol or a sugar do so at once.
fn oxygen(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let group = step.new_bonds(atom).find(|bond| bond.origin.is_none())?;
    match group.element {
        SI if step.before.doubly(atom, |_| true).is_some() => Some(class!("silyl enol ether formation")),
        SI => Some(class!("silyl protection")),
        S => Some(class!("sulfonate ester formation")),
        C if step.after.oxo(group.image) > 0 => Some(class!("O-acylation")),
        _ => None,
    }
}

fn sulfur(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let image = step.image(atom)?;
    let (was, now) = (it.oxo(atom), step.after.oxo(image));
    let halogenated = step.new_bonds(atom).any(|bond| is_halogen(bond.element));
    let imino = step.new_bonds(atom).any(|bond| bond.element == N && bond.order == Order::Double);
    match () {
        () if it.is_sulfur_dioxide(atom) && step.gains(atom, N) => Some(class!("sulfonamide formation")),
        // Zenzola and others, Angew. Chem. Int. Ed. 2016, 55, 7203.
        () if imino => Some(class!("sulfoximine or sulfilimine formation")),
        () if now > was && !halogenated => Some(class!("sulfur oxidation")),
        () if now > 1 && step.gains(atom, F) => Some(class!("sulfonyl fluoride formation")),
        () if now > 1 && halogenated => Some(class!("sulfonyl chloride formation")),
        () if now == 0 && halogenated => Some(class!("sulfenyl chloride formation")),
        () if now == 0 && step.gains(atom, S) => Some(class!("disulfide formation")),
        () if now > 1 && step.gains(atom, N) => Some(class!("sulfonamide formation")),
        () if now > 1 && step.gains(atom, O) && it.next_to(atom).any(|next| it.is_trifluoromethyl(next)) => {
            Some(class!("triflation"))
        }
        () if now > 1 && step.gains(atom, O) => Some(class!("sulfonate ester formation")),
        () if now < was || step.leaving_halogen(atom).is_some() && !step.forms_bond(atom) => {
            Some(class!("sulfur reduction"))
        }
        () => None,
    }
}

/// Additions to C=C, eliminations to it, and moves of it.
fn alkene(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let (mut weaker, mut stronger) = (None, None);
    for (a, b, was, now) in step.carbon_bonds() {
        let side = if was > now { &mut weaker } else { &mut stronger };
        *side = side.or(Some((a, b)));
    }
    let is_aromatised = |atom: u32| {
        !it.is_aromatic(atom) && step.image(atom).is_some_and(|image| step.after.is_aromatic(image))
    };
    match (weaker, stronger) {
        (Some(_), Some((a, _)))
            if is_aromatised(a) && step.change.broken.is_empty() && step.change.made.is_empty() =>
        {
            Some(class!("dehydrogenation"))
        }
        (Some(_), Some(_)) if step.change.broken.is_empty() && step.change.made.is_empty() => {
            Some(class!("alkene isomerisation"))
        }
        (Some((a, b)), None) => addition(step, a, b),
        (_, Some((a, b))) if step.change.made.is_empty() => {
            let leaves = |atom: u32| step.lost(atom).any(|(gone, _)| it.element(gone) != C);
            Some(if leaves(a) || leaves(b) { class!("elimination") } else { class!("dehydrogenation") })
        }
        _ => None,
    }
}

/// Class of a halogen's addition: of hydrogen halide if a carbon gains hydrogen.
fn halogenation(step: &Step<'_>) -> ReactionClass {
    let is_hydrogenated = |atom: u32| step.before.element(atom) == C && step.hydrogens_gained(atom) > 0;
    if step.atoms().any(is_hydrogenated) {
        class!("hydrohalogenation")
    } else {
        class!("alkene halogenation")
    }
}

fn addition(step: &Step<'_>, a: u32, b: u32) -> Option<ReactionClass> {
    let halogens = [a, b].iter().any(|&atom| step.new_bonds(atom).any(|bond| is_halogen(bond.element)));
    match (step.gains(a, O), step.gains(b, O)) {
        _ if halogens => Some(halogenation(step)),
        (true, true) => Some(class!("dihydroxylation")),
        (false, false) => None,
        (on_a, _) => {
            let (alcohol, other) = if on_a { (a, b) } else { (b, a) };
            let it = &step.before;
            let less_hindered = it.carbons(alcohol) < it.carbons(other);
            if step.new_bonds(alcohol).any(|bond| bond.element == O && bond.order == Order::Double) {
                return Some(class!("Wacker oxidation"));
            }
            Some(if less_hindered { class!("hydroboration-oxidation") } else { class!("alkene hydration") })
        }
    }
}

/// Loss of carbon dioxide from an acid or, in water, an ester.
fn decarboxylation(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let loses = |atom: u32| {
        step.hydrogens_gained(atom) > 0
            && step.lost(atom).any(|(gone, _)| matches!(it.group(gone), Group::Acid | Group::Ester))
    };
    step.atoms().filter(|&atom| it.element(atom) == C).any(loses).then_some(class!("decarboxylation"))
}

/// Release of a heteroatom that the template maps to another one of its ring or group.
fn released(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    step.change.broken.iter().find_map(|&(a, b, order)| {
        let leaves = |atom: u32, root: u32| {
            order == Order::Single
                && matches!(it.element(atom), N | O | S)
                && step.image(atom).is_some()
                && step.image(root).is_none()
        };
        let (atom, root) = [(a, b), (b, a)].into_iter().find(|&(atom, root)| leaves(atom, root))?;
        Some(protecting_group::class(it, atom, root)).filter(|class| class.name != "deprotection")
    })
}
