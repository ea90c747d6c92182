//! Parity of a permutation, for comparing configurations.

/// Returns true if sorting the items, all different, takes an odd number of swaps.
#[must_use]
pub fn is_odd<T: PartialOrd>(items: &[T]) -> bool {
    let mut odd = false;
    for (place, item) in items.iter().enumerate() {
        for later in &items[place + 1..] {
            odd ^= later < item;
        }
    }
    odd
}
