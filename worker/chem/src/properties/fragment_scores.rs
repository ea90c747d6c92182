//! The fragment scores of the synthetic accessibility score.
//!
//! `worker/training/fragment_scores.py` writes the table and describes the format.

use std::sync::OnceLock;

/// Low bits of a Rice code.
const LOW_BITS: u32 = 12;

/// Score of an environment without an entry.
const UNKNOWN: f64 = -4.0;

/// Scores by the hash of a Morgan environment.
pub(super) struct FragmentScores {
    /// Different scores.
    scores: Vec<f64>,
    /// Environments, ascending, and for each the place of its score.
    environments: Vec<u32>,
    places: Vec<u16>,
    /// For each value of the upper 16 bits, the first environment with it, plus the end.
    starts: Vec<u32>,
}

impl FragmentScores {
    /// Returns the published table, which is decoded at the first call in some milliseconds.
    pub fn published() -> &'static Self {
        static TABLE: OnceLock<FragmentScores> = OnceLock::new();
        TABLE.get_or_init(|| {
            Self::decode(include_bytes!("../../tables/fragment_scores.bin"))
                .expect("fragment scores: the file is in the crate and a test decodes it")
        })
    }

    /// Returns the score of an environment.
    pub fn of(&self, environment: u32) -> f64 {
        let upper = (environment >> 16) as usize;
        let (start, end) = (self.starts[upper] as usize, self.starts[upper + 1] as usize);
        match self.environments[start..end].binary_search(&environment) {
            Ok(at) => self.scores[usize::from(self.places[start + at])],
            Err(_) => UNKNOWN,
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes;
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk::<4>()?;
            bytes = rest;
            Some(*number)
        };
        let scores = u32::from_le_bytes(number()?);
        let scores: Vec<f64> = (0..scores)
            .map(|_| Some(f64::from(i32::from_le_bytes(number()?)) / 10_000.0))
            .collect::<Option<_>>()?;
        let count = u32::from_le_bytes(number()?) as usize;
        let mut bits = Bits { bytes, at: 0 };
        let (mut environments, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut environment = 0_u32;
        for _ in 0..count {
            let high = bits.run(true)?;
            environment = environment.checked_add(high << LOW_BITS | bits.take(LOW_BITS)?)?;
            environments.push(environment);
            let zeros = bits.run(false)?;
            let place = 1 << zeros | bits.take(zeros)?;
            places.push(u16::try_from(place - 1).ok().filter(|&place| usize::from(place) < scores.len())?);
        }
        let starts = (0..=1_u32 << 16)
            .map(|upper| environments.partition_point(|&environment| environment >> 16 < upper) as u32)
            .collect();
        Some(Self { scores, environments, places, starts })
    }
}

/// Bits of a file, the highest of a byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn next(&mut self) -> Option<bool> {
        let bit = self.bytes.get(self.at / 8)? >> (7 - self.at % 8) & 1;
        self.at += 1;
        Some(bit == 1)
    }

    /// Counts bits equal to `bit`, and skips the other one after them.
    fn run(&mut self, bit: bool) -> Option<u32> {
        let mut count = 0;
        while self.next()? == bit {
            count += 1;
        }
        (count < u32::BITS).then_some(count)
    }

    /// Reads a number of `count` bits.
    fn take(&mut self, count: u32) -> Option<u32> {
        (0..count).try_fold(0, |number, _| Some(number << 1 | u32::from(self.next()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::FragmentScores;

    // Two entries of `fpscores.pkl.gz`, and two numbers without one.
    #[test]
    fn a_fragment_has_its_published_score() {
        let table = FragmentScores::published();

        assert_eq!(table.environments.len(), 705_292);
        for (environment, score) in
            [(910_163_969, -2.8254), (1_449_131_080, 1.2233), (1300, -4.0), (u32::MAX, -4.0)]
        {
            assert_eq!(table.of(environment), score, "{environment}");
        }
    }

    #[test]
    fn a_file_that_ends_early_is_none() {
        let file = include_bytes!("../../tables/fragment_scores.bin");

        assert!(FragmentScores::decode(&file[..file.len() - 1000]).is_none());
        assert!(FragmentScores::decode(&[]).is_none());
    }
}
