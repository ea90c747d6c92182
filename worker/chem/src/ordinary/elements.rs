//! What is known of the elements of ordinary molecules, and of those that are isoelectronic with their ions.
//!
//! The numbers are RDKit's (`atomic_data.cpp`).

/// The numbers of bonds an element may have, ascending; `None` for an element that has no place here.
pub(super) fn valences(number: u8) -> Option<&'static [u8]> {
    Some(match number {
        4 => &[2],
        5 | 13 => &[3],
        6 | 14 => &[4],
        7 => &[3],
        8 => &[2],
        9 | 17 | 35 => &[1],
        10 | 18 | 36 => &[0],
        15 | 33 => &[3, 5],
        16 | 34 | 52 => &[2, 4, 6],
        53 => &[1, 3, 5],
        54 => &[0, 2, 4, 6],
        _ => return None,
    })
}

/// The electrons in the outer shell of an element that ordinary molecules have.
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

/// The symbol of an element that ordinary molecules have.
pub(super) fn symbol(number: u8) -> &'static str {
    match number {
        5 => "B",
        7 => "N",
        8 => "O",
        9 => "F",
        14 => "Si",
        15 => "P",
        16 => "S",
        17 => "Cl",
        34 => "Se",
        35 => "Br",
        53 => "I",
        _ => "C",
    }
}

/// Whether the first element draws electrons more than the second (`moreElectroNegative`).
pub(super) fn draws_more(one: u8, other: u8) -> bool {
    let (first, second) = (outer_electrons(one), outer_electrons(other));
    first > second || (first == second && one < other)
}
