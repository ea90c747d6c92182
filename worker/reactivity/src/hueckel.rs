//! Hückel's method: the energies of the π electrons of a ring system, and where they are.
//!
//! Energies are in units of β, counted from carbon's. Matrices are small (a ring system has some ten atoms), so
//! Jacobi's rotations find all levels in microseconds (Golub and Van Loan, "Matrix Computations", section 8.5).

/// Largest number of atoms of a ring system; larger ones take too long.
pub const MOST_ATOMS: usize = 24;

/// Levels closer than this are filled alike, so that charges do not depend on the order of equal levels.
const SAME_LEVEL: f64 = 1e-4;

/// Sum of the squares next to the diagonal below which a matrix counts as diagonal.
const NEGLIGIBLE: f64 = 1e-12;

const MOST_SWEEPS: usize = 30;

/// Energy of the π electrons, and their number on each atom.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    pub energy: f64,
    pub electrons: Vec<f64>,
}

/// Fills the levels of a Hückel matrix, lowest first, with a number of electrons.
pub fn fill(mut matrix: Vec<Vec<f64>>, electrons: u32) -> Filled {
    let size = matrix.len();
    let vectors = diagonalise(&mut matrix);
    let mut levels: Vec<usize> = (0..size).collect();
    levels.sort_by(|&a, &b| matrix[b][b].total_cmp(&matrix[a][a]));
    let mut filled = Filled { energy: 0.0, electrons: vec![0.0; size] };
    let mut left = f64::from(electrons);
    let same = |a: &usize, b: &usize| matrix[*a][*a] - matrix[*b][*b] < SAME_LEVEL;
    for alike in levels.chunk_by(same) {
        let share = (left / alike.len() as f64).min(2.0);
        left -= share * alike.len() as f64;
        for &level in alike {
            filled.energy += share * matrix[level][level];
            for (atom, electrons) in filled.electrons.iter_mut().enumerate() {
                *electrons += share * vectors[atom][level] * vectors[atom][level];
            }
        }
    }
    filled
}

/// Makes a symmetric matrix diagonal, and returns its eigenvectors as columns.
fn diagonalise(matrix: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect()).collect();
    for _ in 0..MOST_SWEEPS {
        let beside: f64 = (0..size)
            .flat_map(|row| (0..row).map(move |column| (row, column)))
            .map(|(a, b)| matrix[a][b] * matrix[a][b])
            .sum();
        if beside < NEGLIGIBLE {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(matrix, &mut vectors, p, q);
            }
        }
    }
    vectors
}

/// Rotates two rows and columns so that the entry between them becomes zero.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if matrix[p][q] * matrix[p][q] < NEGLIGIBLE * NEGLIGIBLE {
        return;
    }
    let ratio = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for row in matrix.iter_mut().chain(vectors.iter_mut()) {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    let (above, below) = matrix.split_at_mut(q);
    for (a, b) in above[p].iter_mut().zip(&mut below[0]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hückel matrix of a ring of carbons.
    fn ring(size: usize) -> Vec<Vec<f64>> {
        let is_next = |a: usize, b: usize| (a + 1) % size == b || (b + 1) % size == a;
        (0..size).map(|a| (0..size).map(|b| f64::from(u8::from(is_next(a, b)))).collect()).collect()
    }

    #[test]
    fn benzene_has_eight_beta_and_one_electron_on_each_carbon() {
        let filled = fill(ring(6), 6);

        assert!((filled.energy - 8.0).abs() < 1e-6);
        assert!(filled.electrons.iter().all(|electrons| (electrons - 1.0).abs() < 1e-6));
    }

    #[test]
    fn equal_levels_share_their_electrons() {
        let filled = fill(ring(4), 4);

        assert!((filled.energy - 4.0).abs() < 1e-6);
        assert!(filled.electrons.iter().all(|electrons| (electrons - 1.0).abs() < 1e-6));
    }
}
