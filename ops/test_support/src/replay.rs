//! Fuzz regression without a fuzzer: runs the seeds of a target in `ops/fuzz/seeds` and some thousand mutations of
//! them through the function that the target calls.
//!
//! A fuzzer finds unforeseen inputs but takes hours and a nightly compiler. This takes a second or two, anywhere, and
//! prevents regressions: an input that once caused a failure becomes a seed. The same seeds give the same inputs in
//! the same order.

mod mutate;

use std::{env, fs, path::Path};

use mutate::Mutator;

/// Calls `meet` with the seeds of `target`, then with `mutations` mutated inputs, or as many as `RETORT_MUTATIONS` says.
/// The input of a failure is printed.
///
/// # Panics
/// Panics if `meet` does, or if the target has no seeds.
pub fn replay(target: &str, mutations: usize, meet: impl Fn(&[u8])) {
    let seeds = seeds(target);
    let meet = |input: &[u8]| {
        let _shown = PrintOnPanic { target, input };
        meet(input);
    };
    seeds.iter().for_each(|seed| meet(seed));
    let stated = env::var("RETORT_MUTATIONS").ok().and_then(|stated| stated.parse().ok());
    let mutations = stated.unwrap_or(mutations);
    let mut mutator = Mutator::new(&seeds);
    (0..mutations).for_each(|_| meet(&mutator.next_input()));
}

/// Seeds of a target: the lines of its file, the files of its folder, or both, sorted by name for a stable order.
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

/// Prints the input during a panic.
struct PrintOnPanic<'a> {
    target: &'a str,
    input: &'a [u8],
}

impl Drop for PrintOnPanic<'_> {
    #[expect(clippy::print_stdout, reason = "a failed test has to say on what")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("`{}` broke on b\"{}\"", self.target, self.input.escape_ascii());
        }
    }
}
