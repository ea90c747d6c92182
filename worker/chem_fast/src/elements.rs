//! Element data for ordinary molecules, except valences.
//!
//! The numbers are RDKit's (`atomic_data.cpp`).

/// Returns the number of outer-shell electrons of an element of ordinary molecules.
pub(super) fn outer_electrons(number: u8) -> Option<u8> {
    Some(match number {
        5 => 3,
        6 | 14 => 4,
        7 | 15 => 5,
        8 | 16 | 34 => 6,
        9 | 17 | 35 | 53 => 7,
        _ => return None,
    })
}

/// Returns the symbol of an element of ordinary molecules.
pub(super) fn symbol(number: u8) -> &'static [u8] {
    match number {
        5 => b"B",
        7 => b"N",
        8 => b"O",
        9 => b"F",
        14 => b"Si",
        15 => b"P",
        16 => b"S",
        17 => b"Cl",
        34 => b"Se",
        35 => b"Br",
        53 => b"I",
        _ => b"C",
    }
}

/// Returns true if the first element is more electronegative than the second (`moreElectroNegative`).
pub(super) fn draws_more(one: u8, other: u8) -> bool {
    let (first, second) = (outer_electrons(one), outer_electrons(other));
    first > second || (first == second && one < other)
}
