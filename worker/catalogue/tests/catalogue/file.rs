//! The snapshot file: equal rows give equal bytes, and a changed file is refused.

use std::fs;

use catalogue::{BlockRow, Builder, Offer, Snapshot, SnapshotError};
use chem::Fingerprint;

use crate::row;

fn rows() -> Vec<(BlockRow, Vec<Offer>)> {
    const SMILES: [&str; 7] = ["CO", "CCO", "O=c1cccc[nH]1", "Cc1ccccc1", "NCC(=O)O", "CC(=O)Cl", "BrCCBr"];
    let mut refused = Offer::of(9).at(3.0);
    refused.refuses[4] = true;
    let offers = [
        vec![Offer::of(2).at(1.0), Offer::of(2).at(0.5), Offer::of(2)],
        vec![refused, Offer::of(1).within(3.0)],
        vec![],
    ];
    let rows = (1..).zip(SMILES).map(|(id, smiles)| (row(id, smiles), offers[id as usize % 3].clone()));
    rows.collect()
}

fn bytes(rows: impl IntoIterator<Item = (BlockRow, Vec<Offer>)>, cores: usize) -> Vec<u8> {
    let mut builder = Builder::new(cores);
    builder.private(9);
    for (row, offers) in rows {
        offers.iter().for_each(|offer| builder.offer(row.id, offer).unwrap());
        builder.block(row);
    }
    builder.into_bytes(41).unwrap()
}

/// Error message for a file's bytes.
fn fault(bytes: &[u8]) -> String {
    Snapshot::from_bytes(bytes, 1).map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

#[test]
fn the_bytes_hang_on_the_rows_alone() {
    let many = |id: i32| {
        let atoms: String = (0..16).map(|bit| if id >> bit & 1 == 1 { 'N' } else { 'C' }).collect();
        let fingerprint = Fingerprint::from_on_bits([id as u16 % 2048, id as u16 % 31]);
        let offers = vec![Offer::of(id % 7).at(id as f32), Offer::of(id % 3).within((id % 5) as f32)];
        (BlockRow { smiles: format!("O{atoms}"), fingerprint, ..row(id, "C") }, offers)
    };

    let one = bytes((0..20_000).map(many), 1);
    let other = bytes((0..20_000).rev().map(many), 3);

    assert!(one == other);
    assert_eq!(Snapshot::from_bytes(&one, 2).unwrap().len(), 20_000);
}

#[test]
fn a_file_says_what_it_was_made_of() {
    let snapshot = Snapshot::from_bytes(&bytes(rows(), 1), 1).unwrap();

    assert_eq!((snapshot.version(), snapshot.len(), snapshot.unreadable()), (41, 7, 0));
}

#[test]
fn a_flipped_bit_is_refused_wherever_it_is() {
    let sound = bytes(rows(), 1);
    assert_eq!(fault(&sound), "nothing");

    // A file of seven blocks spans several pages, most of them starts of columns that are all alike.
    let every = (0..sound.len()).filter(|&at| at < 4096 || at + 512 > sound.len() || at % 7 == 0);
    for at in every {
        let mut damaged = sound.clone();
        damaged[at] ^= 1 << (at % 8);
        assert_ne!(fault(&damaged), "nothing", "byte {at} of {}", sound.len());
    }
}

#[test]
fn a_file_that_is_no_whole_snapshot_is_refused_with_what_is_wrong() {
    let sound = bytes(rows(), 1);
    let flipped = |at: usize| {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        damaged
    };
    let longer = [&sound[..], &[0; 64]].concat();
    let len = sound.len();

    for (name, bytes, given) in [
        ("empty", vec![], "it is not a snapshot of a catalogue".to_owned()),
        ("other", b"PAR1 is something else".to_vec(), "it is not a snapshot of a catalogue".to_owned()),
        ("newer", flipped(8), "it is of format 3, not 2".to_owned()),
        ("magic alone", sound[..8].to_vec(), "its header is damaged".to_owned()),
        ("header", flipped(40), "its header is damaged".to_owned()),
        ("cut", sound[..len - 1].to_vec(), format!("it is {} bytes long, not {len}", len - 1)),
        ("half", sound[..len / 2].to_vec(), format!("it is {} bytes long, not {len}", len / 2)),
        ("longer", longer, format!("it is {} bytes long, not {len}", len + 64)),
        ("first section", flipped(512), "its section `keys` is damaged".to_owned()),
        ("last section", flipped(len - 1), "its section `column starts` is damaged".to_owned()),
    ] {
        assert_eq!(fault(&bytes), given, "{name}");
    }
}

#[test]
fn a_mapped_file_is_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shelf");
    fs::write(&path, bytes(rows(), 1)).unwrap();

    let mapped = Snapshot::open(&path, 2).unwrap();
    // A removed file stays valid for the processes that have it mapped.
    fs::remove_file(&path).unwrap();

    for (row, _) in rows() {
        let block = mapped.find(&row.smiles.parse().unwrap()).unwrap();
        assert_eq!((mapped.id(block), mapped.smiles(block), mapped.mw(block)), (row.id, row.smiles, row.mw));
    }
    assert!(matches!(Snapshot::open(&path, 1), Err(SnapshotError::Io(_))));
    fs::write(&path, []).unwrap();
    assert!(matches!(Snapshot::open(&path, 1), Err(SnapshotError::Foreign)));
}
