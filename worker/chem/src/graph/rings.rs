//! Ring membership of bonds, and ring sizes.

use chematic::core::Molecule as Graph;

use super::index::index;

/// Returns the size of the smallest ring through every bond, 0 for a bond in no ring; sizes beyond 255 count as 255.
pub(crate) fn smallest_rings(graph: &Graph) -> Vec<u8> {
    let mut rings = vec![0; graph.bond_count()];
    let cyclic = ring_bonds(graph);
    let mut distance = vec![u32::MAX; graph.atom_count()];
    let mut queue = Vec::with_capacity(graph.atom_count());
    for (at, bond) in graph.bonds().filter(|(at, _)| cyclic[at.0 as usize]) {
        // Shortest path between the ends without this bond.
        distance.fill(u32::MAX);
        distance[bond.atom1.0 as usize] = 0;
        queue.clear();
        queue.push(bond.atom1);
        let mut next = 0;
        'search: while let Some(&from) = queue.get(next) {
            next += 1;
            for &(to, along) in graph.neighbor_slice(from) {
                if along == at || !cyclic[along.0 as usize] || distance[to.0 as usize] != u32::MAX {
                    continue;
                }
                distance[to.0 as usize] = distance[from.0 as usize] + 1;
                if to == bond.atom2 {
                    break 'search;
                }
                queue.push(to);
            }
        }
        let around = distance[bond.atom2.0 as usize].saturating_add(1);
        rings[at.0 as usize] = u8::try_from(around).unwrap_or(u8::MAX);
    }
    rings
}

/// Marks the bonds that are in a ring, which are those that are not bridges (Tarjan, 1974), without recursion.
pub(crate) fn ring_bonds(graph: &Graph) -> Vec<bool> {
    let mut cyclic = vec![true; graph.bond_count()];
    let mut entered = vec![0_u32; graph.atom_count()];
    let mut lowest = vec![0_u32; graph.atom_count()];
    let mut clock = 0;
    // The atom, the bond that led to it, and the number of its neighbours visited.
    let mut path: Vec<(usize, Option<u32>, usize)> = Vec::new();
    for start in 0..graph.atom_count() {
        if entered[start] != 0 {
            continue;
        }
        path.push((start, None, 0));
        while let Some((at, by, looked)) = path.last_mut() {
            let (at, by) = (*at, *by);
            if entered[at] == 0 {
                clock += 1;
                (entered[at], lowest[at]) = (clock, clock);
            }
            let Some(&(to, bond)) = graph.neighbor_slice(index(at)).get(*looked) else {
                path.pop();
                if let (Some(bond), Some(&(above, _, _))) = (by, path.last()) {
                    lowest[above] = lowest[above].min(lowest[at]);
                    cyclic[bond as usize] = lowest[at] <= entered[above];
                }
                continue;
            };
            *looked += 1;
            let to = to.0 as usize;
            if Some(bond.0) == by {
                continue;
            }
            if entered[to] == 0 {
                path.push((to, Some(bond.0), 0));
            } else {
                lowest[at] = lowest[at].min(entered[to]);
            }
        }
    }
    cyclic
}
