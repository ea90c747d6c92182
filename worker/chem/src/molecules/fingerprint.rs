//! Morgan fingerprints: radius 2, 2,048 bits, no chirality.

/// A set of 2,048 bits, the same ones RDKit's Morgan generator sets (radius 2, no chirality).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u64; 32]);

impl Fingerprint {
    /// Number of bits.
    pub const BITS: u16 = 2048;

    /// Builds the fingerprint with exactly the given bits set; numbers of 2,048 and more are ignored.
    pub fn from_on_bits(bits: impl IntoIterator<Item = u16>) -> Self {
        let mut words = [0; 32];
        for bit in bits.into_iter().filter(|&bit| bit < Self::BITS) {
            words[usize::from(bit / 64)] |= 1u64 << (bit % 64);
        }
        Self(words)
    }

    /// Returns the numbers of the bits that are set, ascending.
    pub fn on_bits(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().zip(0u16..).flat_map(|(&word, index)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| index * 64 + trailing_zeros(rest))
        })
    }

    /// Returns the number of bits that are set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Computes the Tanimoto similarity: bits set in both over bits set in either; 1.0 if both are empty.
    ///
    /// ```
    /// let [phenol, anisole] = ["Oc1ccccc1", "COc1ccccc1"].map(|smiles| smiles.parse::<chem::Molecule>().unwrap());
    /// let similarity = phenol.fingerprint().tanimoto(&anisole.fingerprint());
    /// assert!(similarity > 0.3 && similarity < 1.0);
    /// ```
    #[must_use]
    pub fn tanimoto(&self, other: &Self) -> f32 {
        let (mut shared, mut either) = (0u32, 0u32);
        for (a, b) in self.0.iter().zip(&other.0) {
            shared += (a & b).count_ones();
            either += (a | b).count_ones();
        }
        if either == 0 { 1.0 } else { shared as f32 / either as f32 }
    }

    /// Returns the bits as 32 words, bit `i` of the fingerprint in word `i / 64`.
    #[must_use]
    pub fn words(&self) -> &[u64; 32] {
        &self.0
    }

    /// Returns the numbers of the bits that are set, ascending, as little-endian `u16`s (the catalogue's column).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.on_bits().flat_map(u16::to_le_bytes).collect()
    }

    /// Reads the format of [`Self::to_bytes`].
    ///
    /// Returns `None` unless the bytes are pairs that ascend and stay below 2,048.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let ascending = || pairs.iter().map(|&pair| u16::from_le_bytes(pair));
        let sound = rest.is_empty()
            && ascending().all(|bit| bit < Self::BITS)
            && ascending().zip(ascending().skip(1)).all(|(a, b)| a < b);
        sound.then(|| Self::from_on_bits(ascending()))
    }
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Fingerprint({} of {} bits)", self.count(), Self::BITS)
    }
}

fn trailing_zeros(word: u64) -> u16 {
    u16::try_from(word.trailing_zeros()).expect("fingerprint: a u64 has at most 64 trailing zeros")
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn bits_survive_the_byte_form() {
        let fingerprint = Fingerprint::from_on_bits([0, 63, 64, 700, 2047, 2048]);

        let bytes = fingerprint.to_bytes();

        assert_eq!(fingerprint.on_bits().collect::<Vec<_>>(), [0, 63, 64, 700, 2047]);
        assert_eq!(bytes[..4], [0, 0, 63, 0]);
        assert_eq!(Fingerprint::from_bytes(&bytes), Some(fingerprint));
    }

    #[test]
    fn bytes_that_are_no_fingerprint_are_refused() {
        for bytes in [&[1][..], &[2, 0, 1, 0], &[1, 0, 1, 0], &[0, 8]] {
            assert_eq!(Fingerprint::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn similarity_counts_shared_over_either() {
        let a = Fingerprint::from_on_bits([1, 2, 3]);
        let b = Fingerprint::from_on_bits([2, 3, 4]);

        assert_eq!(a.tanimoto(&b), 0.5);
        assert_eq!(a.tanimoto(&a), 1.0);
        assert_eq!(Fingerprint::from_on_bits([]).tanimoto(&Fingerprint::from_on_bits([])), 1.0);
    }
}
