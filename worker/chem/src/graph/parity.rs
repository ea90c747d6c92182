//! The parity of an order, by which configurations are compared.

/// Whether an odd number of swaps sorts what is all different.
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
