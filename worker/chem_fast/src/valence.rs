//! Valences and implicit hydrogens of atoms, as in RDKit 2026.03 (`atomic_data.cpp`).
//!
//! A charged atom uses the list of the element it is isoelectronic with (`N+` that of `C`, `O-` that of `F`).
//! Exceptions are phosphorus, sulphur, arsenic and selenium past the next noble gas, which keep their own list,
//! shifted by the charge. Elements without a list in RDKit (most metals) may have any valence and take no hydrogens.

/// Returns the valences that a neutral atom may have, ascending; `None` if any is allowed.
#[must_use]
#[inline]
pub fn valences(element: u8) -> Option<&'static [u8]> {
    Some(match element {
        1 | 9 | 17 | 35 | 55 | 87 => &[1],
        2 | 10 | 18 | 36 | 86 => &[0],
        4 | 8 => &[2],
        5 | 7 | 13 | 31 | 49 => &[3],
        6 | 14 | 32 => &[4],
        15 | 33 | 51 | 83 => &[3, 5],
        16 | 34 | 52 | 84 => &[2, 4, 6],
        50 | 82 => &[2, 4],
        53 | 85 => &[1, 3, 5],
        54 => &[0, 2, 4, 6],
        _ => return None,
    })
}

/// Returns true if RDKit assigns the double bonds of an aromatic atom of this element even if one is written.
#[must_use]
#[inline]
pub fn is_kekulised_with_written_double_bond(element: u8) -> bool {
    matches!(element, 6 | 7)
}

/// Returns true if an element keeps its own list although its charge makes it isoelectronic with another one.
pub(crate) fn keeps_own_valences(element: u8, like: i16) -> bool {
    (like > 16 && matches!(element, 15 | 16)) || (like > 34 && matches!(element, 33 | 34))
}

/// Returns the list of an atom and the offset to add to its entries.
fn allowed(element: u8, charge: i8) -> Option<(&'static [u8], i16)> {
    let own = valences(element)?;
    let effective = i16::from(element) - i16::from(charge);
    if effective <= 0 {
        return None;
    }
    if keeps_own_valences(element, effective) {
        return Some((own, i16::from(charge)));
    }
    valences(u8::try_from(effective.min(118)).ok()?).map(|list| (list, 0))
}

/// Returns true if an atom may have bonds and hydrogens that add up to `valence`.
#[must_use]
#[inline]
pub fn is_valence_allowed(element: u8, charge: i8, valence: i16) -> bool {
    if element == 1 && charge == -1 {
        return valence <= 2;
    }
    allowed(element, charge)
        .is_none_or(|(list, offset)| list.last().is_none_or(|&most| valence <= i16::from(most) + offset))
}

/// Returns the number of hydrogens that RDKit adds to an atom whose bonds add up to `bonds`.
#[must_use]
#[inline]
pub fn implicit_hydrogens(element: u8, charge: i8, bonds: i16) -> u8 {
    if element == 1 && charge == -1 {
        return 0;
    }
    let Some((list, offset)) = allowed(element, charge) else { return 0 };
    list.iter()
        .map(|&valence| i16::from(valence) + offset - bonds)
        .find(|&missing| missing >= 0)
        .and_then(|missing| u8::try_from(missing).ok())
        .unwrap_or(0)
}
