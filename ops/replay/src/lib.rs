//! Fuzzing without a fuzzer: what `ops/fuzz/seeds` has for a target, and some thousand mutations of it, through the
//! function that the target calls.
//!
//! A fuzzer finds what nobody thought of, takes hours and a nightly compiler. This takes a second or two, anywhere, and
//! keeps what was mended from coming back: an input that once broke something becomes a seed. The same seeds give the
//! same inputs in the same order.

mod mutate;

use std::{fs, path::Path};

use mutate::Mutator;

/// Feeds `meet` the seeds of `target` and then `mutations` of them. It panics where an input breaks what should hold, and
/// the input is printed.
///
/// # Panics
/// Panics where `meet` does, and where the target has no seeds.
pub fn replay(target: &str, mutations: usize, meet: impl Fn(&[u8])) {
    let seeds = seeds(target);
    let meet = |input: &[u8]| {
        let _shown = ShownIfBroken { target, input };
        meet(input);
    };
    seeds.iter().for_each(|seed| meet(seed));
    let mut mutator = Mutator::new(&seeds);
    (0..mutations).for_each(|_| meet(&mutator.next_input()));
}

/// The seeds of a target: the lines of its file, the files of its folder, or both; by name, so that they come in one order.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let lines = fs::read(folder.join(format!("{target}.txt"))).unwrap_or_default();
    let mut seeds: Vec<Vec<u8>> =
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
    let mut files: Vec<_> =
        fs::read_dir(folder.join(target)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    seeds.extend(files.iter().map(|file| fs::read(file).expect("replay: a seed can be read")));
    assert!(!seeds.is_empty(), "no seeds of `{target}` in {}", folder.display());
    seeds
}

/// Prints an input while a panic passes by.
struct ShownIfBroken<'a> {
    target: &'a str,
    input: &'a [u8],
}

impl Drop for ShownIfBroken<'_> {
    #[expect(clippy::print_stdout, reason = "a failed test has to say on what")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("`{}` broke on b\"{}\"", self.target, self.input.escape_ascii());
        }
    }
}
