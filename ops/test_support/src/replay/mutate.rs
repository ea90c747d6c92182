//! Mutated seeds: the mutations of a fuzzer, driven by a fixed sequence of pseudo-random numbers.

/// Inputs that often matter to parsers.
const INTERESTING_INPUTS: [&[u8]; 12] = [
    b"\0",
    b"\xff",
    b"\n",
    b"0",
    b"-1",
    b"4294967296",
    b"1e999",
    b"\"",
    b"{",
    b"[",
    b"(",
    b"\xf0\x9f\xa7\xaa",
];

/// Maximum length of a mutated input, in bytes.
const MAX_INPUT_BYTES: usize = 64 << 10;

/// Generates inputs from seeds.
pub struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutator<'a> {
    /// Starts from `seeds`, of which there is at least one.
    pub const fn new(seeds: &'a [Vec<u8>]) -> Self {
        Self { seeds, state: 0 }
    }

    /// Returns a seed that was changed in one to five places.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        for _ in 0..=self.below(5) {
            self.change(&mut input);
        }
        input.truncate(MAX_INPUT_BYTES);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let range = self.range(input.len());
        match self.below(7) {
            0 => drop(input.drain(range)),
            1 => {
                let copied = input[range].to_vec();
                self.insert(input, &copied);
            }
            2 => {
                let other = self.seed();
                let part = other[self.range(other.len())].to_vec();
                input.splice(range, part);
            }
            3 => {
                let input_of_interest = INTERESTING_INPUTS[self.below(INTERESTING_INPUTS.len())];
                self.insert(input, input_of_interest);
            }
            // The most common mutation: flip a bit, replace a byte, or shift it by up to two.
            kind => {
                let (random, at) = (self.random(), range.start);
                if let Some(byte) = input.get_mut(at) {
                    *byte = match kind {
                        4 => *byte ^ (1 << (random % 8)),
                        5 => random.to_le_bytes()[0],
                        _ => byte.wrapping_add((random % 5).to_le_bytes()[0]).wrapping_sub(2),
                    };
                }
            }
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>, part: &[u8]) {
        let at = self.below(input.len() + 1);
        input.splice(at..at, part.iter().copied());
    }

    fn seed(&mut self) -> &'a [u8] {
        let number = self.below(self.seeds.len());
        &self.seeds[number]
    }

    /// A random range of `input`, short more often than long.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let most = if self.below(4) == 0 { length } else { 8 };
        start..(start + self.below(most + 1)).min(length)
    }

    /// A number below `bound`, which must be over 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.random() % bound as u64) as usize
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn inputs_are_many_and_the_same_each_time() {
        let seeds = vec![b"c1ccccc1".to_vec(), b"CC(=O)O".to_vec(), Vec::new()];
        let inputs = || {
            let mut mutator = Mutator::new(&seeds);
            (0..1000).map(|_| mutator.next_input()).collect::<Vec<_>>()
        };

        let distinct: HashSet<_> = inputs().into_iter().collect();

        assert_eq!(inputs(), inputs());
        assert!(distinct.len() > 500, "{}", distinct.len());
    }
}
