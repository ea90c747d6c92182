//! Benchmark of reading files: `cargo run --release -p catalogue --example read -- [--threads N] FILE…`.

use std::{collections::BTreeMap, num::NonZeroUsize, path::PathBuf, sync::Arc, thread, time::Instant};

use catalogue::read::{self, ColumnProfile, KnownKeys, Options, ReadInput};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut threads = thread::available_parallelism()?;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--threads" {
            threads = arguments.next().unwrap_or_default().parse::<NonZeroUsize>()?;
            continue;
        }
        read(&argument, threads)?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "figures for people")]
fn read(path: &str, threads: NonZeroUsize) -> Result<(), Box<dyn std::error::Error>> {
    let options = Options {
        vendor: Some("House".into()),
        profile: ColumnProfile::default(),
        rates: "EUR = 1.08".parse()?,
        keys: Arc::new(KnownKeys::default()),
        threads,
    };
    let begun = Instant::now();
    let opened = read::open(&ReadInput::File(PathBuf::from(path)), &options)?;
    let outline = opened.outline.clone();
    let (mut records, mut entries) = (0, 0);
    let mut faults: BTreeMap<&str, u64> = BTreeMap::new();
    for batch in opened.read() {
        let batch = batch?;
        records += batch.records;
        entries += batch.entries.len();
        batch.rejects.iter().for_each(|reject| *faults.entry(reject.fault.kind()).or_default() += 1);
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{path}: {}, {}, profile {}: {records} records, {entries} offers in {seconds:.2} s, {:.0} records/s; {faults:?}",
        outline.format.name(),
        outline.compression.name(),
        outline.profile,
        records as f64 / seconds
    );
    Ok(())
}
