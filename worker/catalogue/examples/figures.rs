//! Benchmark of a snapshot: `figures BLOCKS [FILE [QUERIES]]`. `figures offers BLOCKS` writes the enumerated blocks
//! and their offers as a vendors' file, in which the first hundred blocks have fifty offers each.
//!
//! Blocks are the first molecules of FILE (one SMILES a line). Without FILE they are enumerated: rings with
//! substituents, linkers and functional groups, every combination once. A multiplication shuffles them, so that fewer
//! of them are a sample of all. Queries are the first 50 molecules of QUERIES, or else amides of such blocks. Each
//! block has one to four offers of ten vendors.

#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use catalogue::{Block, BlockRow, Builder, Masks, Offer, Region, Snapshot, Stock, StockView};
use chem::{Fingerprint, Limits, Molecule};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ALKYLS: [&str; 12] =
    ["C", "CC", "CC(C)", "CC(C)(C)", "CCC", "CC(F)(F)", "C1CC1", "C1CCC1", "C1CCCC1", "COC", "COCC", "CCCC"];
const LINKS: [&str; 7] = ["", "O", "N", "S", "C(=O)N", "S(=O)(=O)", "C#C"];
const CORES: [&str; 26] = [
    "c1ccc({})cc1",
    "c1cc({})ccc1",
    "c1c({})cccc1",
    "c1ccc({})nc1",
    "c1cc({})ncc1",
    "c1ncc({})cc1",
    "c1nc({})ncc1",
    "c1cnc({})nc1",
    "c1sc({})cc1",
    "c1cc({})sc1",
    "c1oc({})cc1",
    "n1nc({})cc1",
    "n1cc({})cn1",
    "c1nnc({})s1",
    "c1nc({})sc1",
    "C1CCN({})CC1",
    "N1CCN({})CC1",
    "N1CCC({})C1",
    "C1CC({})C1",
    "C1CCC({})CC1",
    "c1cc(F)c({})cc1",
    "c1c(Cl)c({})ccc1",
    "c1cc(C)c({})cc1",
    "c1ccc2n({})ccc2c1",
    "c1ccc2cc({})oc2c1",
    "c1ccc2ccc({})nc2c1",
];
const LINKERS: [&str; 9] = ["", "C", "CC", "OC", "NC", "C(=O)NC", "CO", "C(C)", "N(C)C"];
const GROUPS: [&str; 14] = [
    "C(=O)O",
    "N",
    "Br",
    "O",
    "C=O",
    "C#N",
    "CCl",
    "B(O)O",
    "C(=O)OC",
    "NC(=O)OC(C)(C)C",
    "S(=O)(=O)Cl",
    "CBr",
    "C#C",
    "CN",
];

/// Number of all combinations.
const ALL: u64 =
    (ALKYLS.len() * LINKS.len() * CORES.len() * ALKYLS.len() * LINKS.len() * LINKERS.len() * GROUPS.len())
        as u64;

fn enumerated(number: u64) -> String {
    // The factor is a golden section of `ALL` without a common divisor: each number has its own place, far from the
    // next.
    let mut left = (number.wrapping_mul(14_286_137)) % ALL;
    let mut digit = |parts: &[&'static str]| {
        let part = parts[(left % parts.len() as u64) as usize];
        left /= parts.len() as u64;
        part
    };
    let (core, group, linker) = (digit(&CORES), digit(&GROUPS), digit(&LINKERS));
    let (alkyl, link) = (digit(&ALKYLS), digit(&LINKS));
    let (other_link, other) = (digit(&LINKS), digit(&ALKYLS));
    let side = format!("{linker}C({other_link}{other}){group}");
    format!("{alkyl}{link}{}", core.replacen("{}", &side, 1))
}

fn row(id: i32, smiles: &str) -> Option<BlockRow> {
    Some(BlockRow::of(id, &Molecule::parse(smiles, Limits::DEFAULT).ok()?))
}

/// One to four offers of ten vendors. Lead times and refused regions depend on the vendor.
fn offers(id: i32) -> impl Iterator<Item = Offer> {
    let mixed = (id as u32).wrapping_mul(2_654_435_761) >> 8;
    (0..=mixed % 4).map(move |at| {
        let vendor = 1 + (mixed / 7 + at * 3) % 10;
        let price = ((mixed >> (at + 3)) % 5000) as f32 / 10.0;
        let mut offer = Offer::of(vendor as i32).within([2.0, 5.0, 14.0, 42.0][(vendor + at) as usize % 4]);
        offer.refuses[vendor as usize % 8] = vendor > 4;
        if at == 2 { offer } else { offer.at(price) }
    })
}

/// Number of blocks in a vendors' file that have many offers, to size an answer; below, their number of offers.
const BLOCKS_WITH_MANY_OFFERS: i32 = 100;
const OFFERS_PER_SUCH_BLOCK: usize = 50;

/// Writes the offers of the first enumerated blocks, one a line.
fn write_offers(blocks: u64) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "smiles,vendor_name,cs_id,pack,uom,price_usd,lead_time_days_to_US")?;
    for id in 0..blocks {
        let smiles = enumerated(id);
        let id = id as i32;
        let own: Vec<Offer> = match id {
            ..BLOCKS_WITH_MANY_OFFERS => (0..)
                .flat_map(|round| offers(id + round * BLOCKS_WITH_MANY_OFFERS))
                .take(OFFERS_PER_SUCH_BLOCK)
                .collect(),
            _ => offers(id).collect(),
        };
        for (at, offer) in own.iter().enumerate() {
            let price = offer.usd_per_gram.map_or_else(String::new, |usd| (usd + 0.1).to_string());
            let days = offer.lead_time_days[0].map_or_else(String::new, |days| days.to_string());
            writeln!(out, "{smiles},Vendor {},{id}-{at},1,g,{price},{days}", offer.vendor)?;
        }
    }
    Ok(out.flush()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().ok_or("figures BLOCKS [FILE [QUERIES]] | figures offers BLOCKS")?;
    if first == "offers" {
        return write_offers(arguments.next().ok_or("figures offers BLOCKS")?.parse()?);
    }
    let wanted: u64 = first.parse()?;
    let lines = |path: String| -> Result<Vec<String>, Box<dyn Error>> {
        let lines = BufReader::new(File::open(path)?).lines().take(wanted as usize);
        Ok(lines
            .map(|line| Ok(line?.split([' ', '\t', ',']).next().unwrap_or_default().to_owned()))
            .collect::<Result<_, std::io::Error>>()?)
    };
    let file = arguments.next().map(lines).transpose()?;
    let queries = match arguments.next() {
        Some(path) => lines(path)?.into_iter().filter_map(|smiles| row(0, &smiles)).collect::<Vec<_>>(),
        None => {
            (0..80).filter_map(|at| row(0, &format!("{}C(=O)N{}", "CC", enumerated(ALL - 1 - at)))).collect()
        }
    };
    let queries: Vec<Fingerprint> = queries.iter().take(50).map(|row| row.fingerprint).collect();
    let cores = thread::available_parallelism()?.get();

    let (path, start) =
        (std::env::temp_dir().join(format!("figures-{}", std::process::id())), Instant::now());
    let (making, most) = build(&path, wanted, file.as_deref(), cores)?;
    println!(
        "made molecules {:.1?}, built {:.1?} on {cores} cores, {most} MiB at most",
        making,
        start.elapsed() - making
    );
    let start = Instant::now();
    let snapshot = Snapshot::open(&path, cores)?;
    let opened = start.elapsed();
    let start = Instant::now();
    drop(Snapshot::open(&path, 1)?);
    println!("opened {opened:.1?}, on one core {:.1?}", start.elapsed());
    fs::remove_file(&path)?;
    let (bytes, fingerprints) = snapshot.bytes();
    let blocks = snapshot.len();
    let each = |bytes: usize| bytes as f64 / blocks as f64;
    println!(
        "{blocks} blocks, {} unreadable, {:.1} MB: {:.1} bytes a block and {:.1} of fingerprints",
        snapshot.unreadable(),
        bytes as f64 / 1e6,
        each(bytes - fingerprints),
        each(fingerprints)
    );
    look_up(Arc::new(snapshot), &queries, cores)?;
    println!("resident {} MiB, {} of it the process's own", status("VmRSS")?, status("RssAnon")?);
    Ok(())
}

/// Builds the file. Returns the time for making the molecules and the peak memory of the process.
fn build(
    path: &Path,
    wanted: u64,
    file: Option<&[String]>,
    cores: usize,
) -> Result<(Duration, u64), Box<dyn Error>> {
    let (mut making, mut builder) = (Duration::ZERO, Builder::new(cores));
    let numbers: Vec<u64> = (0..wanted).collect();
    for part in numbers.chunks(200_000) {
        let start = Instant::now();
        let rows: Vec<BlockRow> = thread::scope(|scope| {
            let made = |part: &[u64]| {
                let smiles = |at: u64| {
                    file.map_or_else(|| Some(enumerated(at)), |file| file.get(at as usize).cloned())
                };
                part.iter().filter_map(|&at| row(at as i32, &smiles(at)?)).collect::<Vec<_>>()
            };
            let parts: Vec<_> =
                part.chunks(part.len().div_ceil(cores)).map(|part| scope.spawn(move || made(part))).collect();
            parts
                .into_iter()
                .flat_map(|part| part.join().expect("figures: making a molecule does not panic"))
                .collect()
        });
        making += start.elapsed();
        for row in rows {
            for offer in offers(row.id) {
                builder.offer(row.id, &offer)?;
            }
            builder.block(row);
        }
    }
    builder.write(1, BufWriter::new(File::create(path)?))?;
    Ok((making, status("VmHWM")?))
}

fn look_up(snapshot: Arc<Snapshot>, queries: &[Fingerprint], cores: usize) -> Result<(), Box<dyn Error>> {
    let blocks = snapshot.len();
    let sample = (0..100_000_usize).map(|at| Block::new((at * 7_919 % blocks) as u32));
    let known: Vec<Molecule> =
        sample.clone().filter_map(|block| Molecule::trusted(&snapshot.smiles(block)).ok()).collect();
    let others: Vec<Molecule> = known
        .iter()
        .filter_map(|molecule| Molecule::trusted(&format!("C[Si](C)(C){}", molecule.as_canonical())).ok())
        .collect();
    for molecules in [&known, &others] {
        // Computes the keys first, as a search has them for all of its molecules.
        molecules.iter().for_each(|molecule| {
            let _ = molecule.key();
        });
        let start = thread_cpu_time();
        let found = molecules.iter().filter(|molecule| snapshot.find(molecule).is_some()).count();
        println!(
            "{found} of {} found, {:.0} ns each",
            molecules.len(),
            (thread_cpu_time() - start).as_nanos() as f64 / molecules.len() as f64
        );
    }
    let region = Region::of_country("DE").ok_or("a region")?;
    let none = Masks::default();
    let loose = Masks { usd_gte: Some(400.0), region, ..none.clone() };
    let strict =
        Masks { usd_gte: Some(40.0), lead_gte: Some(7.0), mw_gte: Some(250.0), region, ..none.clone() };
    let light = Masks { mw_gte: Some(150.0), ..none.clone() };
    for (name, masks) in [("no masks", none), ("loose", loose), ("strict", strict), ("light", light)] {
        let start = thread_cpu_time();
        let stock = StockView::new(Arc::clone(&snapshot), masks);
        let bound = thread_cpu_time() - start;
        let start = thread_cpu_time();
        let allowed = sample.clone().cycle().take(1_000_000).filter(|&block| stock.is_allowed(block)).count();
        let mask = (thread_cpu_time() - start).as_nanos() as f64 / 1e6;
        print!(
            "{name}: bound in {bound:.1?}, {} % allowed, {mask:.0} ns a mask; nearest of",
            allowed / 10_000
        );
        for (count, cores) in [(1, 1), (10, 1), (50, 1), (50, cores)] {
            // The thread clock has a resolution of milliseconds.
            let (start, began, mut times) = (thread_cpu_time(), Instant::now(), 0);
            while began.elapsed() < Duration::from_millis(400) {
                let found = stock.nearest(&queries[..count.min(queries.len())], cores);
                assert!(found.len() <= count);
                times += 1;
            }
            let each = (thread_cpu_time() - start) / times;
            print!(" {count} on {cores}: {each:.2?},");
        }
        println!();
    }
    Ok(())
}

/// CPU time of this thread so far, which other work on the machine does not change.
fn thread_cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Memory of the process in MiB, by a name of `/proc/self/status`.
fn status(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such figure")?;
    let kib: u64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kib / 1024)
}
