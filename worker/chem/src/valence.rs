//! The valences that atoms of organic molecules have, as RDKit lists them.

use chematic::core::Element;

/// The sums of bond orders and hydrogens that make an atom full, ascending; none for what is out of the ordinary.
fn allowed(element: Element, charge: i8) -> &'static [u32] {
    match (element.atomic_number(), charge) {
        // B, Al
        (5 | 13, 0) => &[3],
        // B-, C, Si, Ge, Sn, N+, P+
        (5, -1) | (6 | 14 | 32 | 50, 0) | (7 | 15, 1) => &[4],
        // N, O+, S+
        (7, 0) | (8 | 16, 1) => &[3],
        // P, As
        (15 | 33, 0) => &[3, 5],
        // N-, O
        (7, -1) | (8, 0) => &[2],
        // S, Se
        (16 | 34, 0) => &[2, 4, 6],
        // O-, S-, halogens, alkali metals
        (8 | 16, -1) | (9 | 17 | 35 | 53, 0) | (3 | 11 | 19, 0) => &[1],
        // Mg, Zn
        (12 | 30, 0) => &[2],
        // Ions
        (9 | 17 | 35 | 53, -1) | (3 | 11 | 19, 1) => &[0],
        _ => &[],
    }
}

/// Whether an atom with this sum of bond orders and hydrogens is full: no radical, nothing too many.
pub(crate) fn is_full(element: Element, charge: i8, sum: u32) -> bool {
    allowed(element, charge).contains(&sum)
}

/// The hydrogens that fill an atom whose bond orders sum up to `orders`, if any number does.
pub(crate) fn hydrogens(element: Element, charge: i8, orders: u32) -> Option<u8> {
    let valence = allowed(element, charge).iter().find(|&&valence| valence >= orders)?;
    u8::try_from(valence - orders).ok()
}
