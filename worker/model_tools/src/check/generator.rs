//! Checks of a generator: it loads, can write ordinary molecules, finds them likely, and draws some.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use chem::{Limits, Molecule};
use generator::{Device, ModelPack, SampleBudget, Sampler};

use super::CheckReport;
use crate::PackFolder;

/// Features that any model of drug-like molecules has met: rings, branches, halogens, charges, both kinds of stereo.
const ORDINARY_MOLECULES: [&str; 12] = [
    "CCO",
    "c1ccccc1",
    "CC(=O)Oc1ccccc1C(=O)O",
    "CC(=O)Nc1ccc(O)cc1",
    "CCN(CC)CC(=O)Nc1c(C)cccc1C",
    "Cn1c(=O)c2c(ncn2C)n(C)c1=O",
    "CN1CCN(c2ccc(F)cc2)CC1",
    "O=C(Nc1ccc(Cl)cc1)c1cc(Br)ccn1",
    "CS(=O)(=O)c1ccc2[nH]ccc2c1",
    "O=[N+]([O-])c1ccccc1C#N",
    "C[C@H](N)C(=O)N1CCC[C@@H]1C(=O)O",
    "O=C(O)/C=C/c1ccccc1",
];
/// Minimum of ordinary molecules that a vocabulary of drug-like molecules can write.
const MIN_ENCODED: usize = 6;
/// Number of molecules drawn.
const DRAWN_MOLECULES: usize = 20;
/// Number of raw strings drawn to measure the share of valid molecules.
const RAW_STRINGS: usize = 256;
/// Maximum length of a drawn string, so that a model that never ends its strings takes seconds, not hours.
const MAX_STRING_LENGTH: usize = 256;
/// Timeout for drawing.
const DRAW_TIMEOUT: Duration = Duration::from_secs(20);
/// Loss of a trained model, as a share of the nats of blind guessing, must be below this. The models that ship need a
/// fifth.
const MAX_LOSS_SHARE: f64 = 0.8;
/// Minimum share of raw strings that are valid molecules.
const MIN_VALID_SHARE: f64 = 0.5;

/// Checks the pack of a generator.
pub fn check(pack: &PackFolder, report: &mut CheckReport) {
    let faults = ModelPack::faults(&pack.folder);
    report.faults.extend(faults.iter().map(ToString::to_string).filter(|fault| !pack.faults.contains(fault)));
    if !report.faults.is_empty() {
        return;
    }
    let mut loaded = match ModelPack::load(&pack.folder) {
        Ok(loaded) => loaded,
        Err(fault) => return report.faults.push(fault.to_string()),
    };
    if loaded.generation.max_length > MAX_STRING_LENGTH {
        loaded.generation.max_length = MAX_STRING_LENGTH;
    }
    let file = |name: &str| pack.folder.join(name).display().to_string();
    let spelled = encode_ordinary(&loaded, &file("tokenizer.json"), report);
    match Sampler::new(&loaded, Device::Cpu) {
        Ok(sampler) => {
            check_likelihood(&sampler, &spelled, &file("model.safetensors"), report);
            if report.is_sound() {
                draw(&sampler, &file("model.safetensors"), report);
            }
        }
        Err(fault) => report.faults.push(format!("{}: {fault}", file("model.safetensors"))),
    }
}

/// Encodes ordinary molecules in the model's tokens.
fn encode_ordinary(pack: &ModelPack, file: &str, report: &mut CheckReport) -> Vec<Vec<u32>> {
    let (mut spelled, mut missing) = (Vec::new(), Vec::new());
    for smiles in ORDINARY_MOLECULES {
        match pack.encode(smiles) {
            Some(tokens) => spelled.push(tokens),
            None => missing.push(smiles),
        }
    }
    let count = format!("spells {} of {} ordinary molecules", spelled.len(), ORDINARY_MOLECULES.len());
    if missing.is_empty() {
        report.notes.push(count);
    } else if spelled.len() < MIN_ENCODED {
        report.faults.push(format!("{file}: {count}; not {}", missing.join(", ")));
    } else {
        report.warnings.push(format!("{file}: {count}; not {}", missing.join(", ")));
    }
    spelled
}

/// Measures how likely the model finds ordinary molecules.
fn check_likelihood(sampler: &Sampler, spelled: &[Vec<u32>], file: &str, report: &mut CheckReport) {
    if spelled.is_empty() {
        return;
    }
    let rows = match sampler.logits(spelled) {
        Ok(rows) => rows,
        Err(fault) => return report.faults.push(format!("{file}: {fault}")),
    };
    let (mut nats, mut tokens, mut choices) = (0.0, 0.0, 0);
    for (string, rows) in spelled.iter().zip(&rows) {
        // The output after token n predicts token n + 1.
        for (row, next) in rows.iter().zip(&string[1..]) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let total: f64 = row.iter().map(|logit| f64::from(logit - largest).exp()).sum();
            nats += total.ln() - f64::from(row[*next as usize] - largest);
            tokens += 1.0;
            choices = row.len();
        }
    }
    let a_token = nats / tokens;
    if !a_token.is_finite() {
        report.faults.push(format!("{file}: the network gives numbers that are not finite"));
        return;
    }
    let blind = (choices as f64).ln();
    let figures = format!("{a_token:.2} nats a token on ordinary molecules, {blind:.2} by blind guessing");
    if a_token < MAX_LOSS_SHARE * blind {
        report.notes.push(figures);
    } else {
        report.warnings.push(format!("{file}: {figures}: the weights know little chemistry"));
    }
}

/// Draws some molecules and raw strings.
fn draw(sampler: &Sampler, file: &str, report: &mut CheckReport) {
    let begun = Instant::now();
    let budget =
        SampleBudget { deadline: Some(begun + DRAW_TIMEOUT), cancelled: Arc::new(AtomicBool::new(false)) };
    let drawn = match sampler.sample(DRAWN_MOLECULES, 0, &budget) {
        Ok(drawn) => drawn,
        Err(fault) => {
            return report.faults.push(format!("{file}: drawing {DRAWN_MOLECULES} molecules: {fault}"));
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    report
        .notes
        .push(format!("drew {DRAWN_MOLECULES} molecules in {seconds:.2} s, the first of them {}", drawn[0]));
    match sampler.raw(RAW_STRINGS, 1) {
        Ok(raw) => {
            let valid = raw.iter().filter(|text| Molecule::parse(text, Limits::TARGET).is_ok()).count();
            let share = valid as f64 / RAW_STRINGS as f64;
            let figures =
                format!("{valid} of {RAW_STRINGS} raw strings are molecules ({:.0} %)", 100.0 * share);
            if share < MIN_VALID_SHARE {
                report.warnings.push(format!("{file}: {figures}"));
            } else {
                report.notes.push(figures);
            }
        }
        Err(fault) => report.faults.push(format!("{file}: {fault}")),
    }
}
