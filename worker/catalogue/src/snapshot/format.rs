//! File format of a snapshot: a header, then sections.
//!
//! All numbers are little-endian, and every section begins at a multiple of 64 bytes. The header holds the offset,
//! the length and the CRC-32 of each section, including the padding up to the next; it ends with a CRC-32 of itself.
//! A CRC-32 detects every change within 32 neighbouring bits, so no changed byte goes unnoticed.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `RtrtShop` |
//! | 4, 4 | format version, number of sections |
//! | 8 | catalogue version |
//! | 8 | digest of the keys of some sample molecules: another release may number all molecules differently |
//! | 8, 8, 8 | file length, building blocks, rejected rows |
//! | 24 per section | offset, length, CRC-32, padding |
//! | 4 | CRC-32 of the header |

use std::fmt;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::thread;

use bytemuck::NoUninit;
use chem::Molecule;
use crc32fast::Hasher;

const _: () = assert!(cfg!(target_endian = "little"), "snapshots are mapped as they are written");

/// Format version that this release writes and reads.
pub const FORMAT: u32 = 2;

const MAGIC: [u8; 8] = *b"RtrtShop";
const ALIGN: u64 = 64;
const FIXED: usize = 56;
const ENTRY: usize = 24;
/// Length of the header, padded.
const HEADER: usize = (FIXED + ENTRY * Section::ALL.len() + 4).next_multiple_of(ALIGN as usize);

/// Sections of a file, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they hold stands where they are written, in `build.rs`")]
pub enum Section {
    Keys,
    KeyStarts,
    Forms,
    FormStarts,
    Ids,
    Weights,
    OfferStarts,
    OfferCounts,
    Offers,
    Profiles,
    Vendors,
    SmilesStarts,
    Smiles,
    Places,
    CountStarts,
    Columns,
    TileStarts,
    ColumnStarts,
}

impl Section {
    /// All sections.
    pub const ALL: [Self; 18] = [
        Self::Keys,
        Self::KeyStarts,
        Self::Forms,
        Self::FormStarts,
        Self::Ids,
        Self::Weights,
        Self::OfferStarts,
        Self::OfferCounts,
        Self::Offers,
        Self::Profiles,
        Self::Vendors,
        Self::SmilesStarts,
        Self::Smiles,
        Self::Places,
        Self::CountStarts,
        Self::Columns,
        Self::TileStarts,
        Self::ColumnStarts,
    ];

    /// Returns true if the section belongs to the fingerprints.
    #[must_use]
    pub fn is_of_fingerprints(self) -> bool {
        self as usize >= Self::Places as usize
    }
}

impl fmt::Display for Section {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{self:?}");
        for (at, letter) in name.char_indices() {
            let space = if at > 0 && letter.is_ascii_uppercase() { " " } else { "" };
            write!(formatter, "{space}{}", letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

/// Reason why a file is not a usable snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The file cannot be read.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    /// The file is not a snapshot.
    #[error("it is not a snapshot of a catalogue")]
    Foreign,
    /// Another release wrote the file, in another format.
    #[error("it is of format {found}, not {FORMAT}")]
    #[expect(missing_docs, reason = "the field is named in the message")]
    Format { found: u32 },
    /// Another release wrote the file, with another numbering of molecules.
    #[error("it is of another release, which compares molecules in another way")]
    Chemistry,
    /// The file is shorter or longer than stated.
    #[error("it is {found} bytes long, not {stated}")]
    #[expect(missing_docs, reason = "the fields are named in the message")]
    Length { stated: u64, found: u64 },
    /// The header is damaged.
    #[error("its header is damaged")]
    Header,
    /// A section is damaged.
    #[error("its section `{0}` is damaged")]
    Damaged(Section),
}

/// Content of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The version of the catalogue.
    pub version: i64,
    /// Building blocks.
    pub blocks: u64,
    /// Rows that were skipped because their SMILES cannot be parsed.
    pub unreadable: u64,
    sections: [Range<usize>; Section::ALL.len()],
}

impl Header {
    /// Reads the header of a file and verifies all checksums, on `cores` cores.
    ///
    /// # Errors
    /// Fails if any byte differs from what was written.
    pub fn read(file: &[u8], cores: usize) -> Result<Self, SnapshotError> {
        let found = file.len() as u64;
        if !file.starts_with(&MAGIC) {
            return Err(SnapshotError::Foreign);
        }
        let four = |at: usize| file.get(at..at + 4).map(bytemuck::pod_read_unaligned::<u32>);
        let eight = |at: usize| file.get(at..at + 8).map(bytemuck::pod_read_unaligned::<u64>);
        let format = four(8).ok_or(SnapshotError::Header)?;
        if format != FORMAT {
            return Err(SnapshotError::Format { found: format });
        }
        let header = file.get(..HEADER).ok_or(SnapshotError::Header)?;
        let (said, filled) = header.split_at(HEADER - 4);
        if bytemuck::pod_read_unaligned::<u32>(filled) != crc32fast::hash(said) {
            return Err(SnapshotError::Header);
        }
        let number = |at| eight(at).ok_or(SnapshotError::Header);
        if number(24)? != chemistry() {
            return Err(SnapshotError::Chemistry);
        }
        if number(32)? != found {
            return Err(SnapshotError::Length { stated: number(32)?, found });
        }
        let mut sections = [const { 0..0 }; Section::ALL.len()];
        let mut sums = [0; Section::ALL.len()];
        for ((section, sum), at) in sections.iter_mut().zip(&mut sums).zip((FIXED..).step_by(ENTRY)) {
            let (start, len) = (number(at)?, number(at + 8)?);
            let end = start.checked_add(len).filter(|&end| end <= found && start % ALIGN == 0);
            *section = start as usize..end.ok_or(SnapshotError::Header)? as usize;
            *sum = four(at + 16).ok_or(SnapshotError::Header)?;
        }
        check(file, &sections, &sums, cores)?;
        Ok(Self {
            version: number(16)?.cast_signed(),
            blocks: number(40)?,
            unreadable: number(48)?,
            sections,
        })
    }

    /// Byte range of a section.
    pub fn range(&self, section: Section) -> Range<usize> {
        self.sections[section as usize].clone()
    }
}

/// Verifies the checksums of the sections.
fn check(file: &[u8], sections: &[Range<usize>], sums: &[u32], cores: usize) -> Result<(), SnapshotError> {
    let is_whole = |at: usize| {
        let filled = sections[at].end.next_multiple_of(ALIGN as usize);
        file.get(sections[at].start..filled).is_some_and(|bytes| crc32fast::hash(bytes) == sums[at])
    };
    // The sections are contiguous, so a checksum covers every byte.
    let starts = sections.iter().skip(1).map(|section| section.start).chain([file.len()]);
    let ends = sections.iter().map(|section| section.end.next_multiple_of(ALIGN as usize));
    if sections[0].start != HEADER || !starts.eq(ends) {
        return Err(SnapshotError::Header);
    }
    let mut by_length: Vec<usize> = (0..sections.len()).collect();
    by_length.sort_by_key(|&at| std::cmp::Reverse(sections[at].len()));
    let (by_length, is_whole, cores) = (&by_length, &is_whole, cores.clamp(1, sections.len()));
    let damaged = thread::scope(|scope| {
        let part =
            |first: usize| move || by_length.iter().skip(first).step_by(cores).find(|&&at| !is_whole(at));
        let parts: Vec<_> = (0..cores).map(|first| scope.spawn(part(first))).collect();
        let found = parts.into_iter().filter_map(|part| part.join().expect("format: a sum does not panic"));
        found.min()
    });
    damaged.map_or(Ok(()), |&at| Err(SnapshotError::Damaged(Section::ALL[at])))
}

/// Writes a file section by section, in their order.
pub struct Writer<W> {
    out: W,
    /// Offset of the next byte.
    at: u64,
    sections: Vec<(u64, u64, u32)>,
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a file.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; HEADER])?;
        Ok(Self { out, at: HEADER as u64, sections: Vec::new() })
    }

    /// Writes the next section from its parts.
    pub fn section<T: NoUninit>(
        &mut self,
        section: Section,
        parts: impl IntoIterator<Item = impl AsRef<[T]>>,
    ) -> io::Result<()> {
        assert_eq!(section as usize, self.sections.len(), "format: sections have an order");
        let (start, mut sum) = (self.at, Hasher::new());
        for part in parts {
            let bytes = bytemuck::cast_slice(part.as_ref());
            self.out.write_all(bytes)?;
            sum.update(bytes);
            self.at += bytes.len() as u64;
        }
        let len = self.at - start;
        let filling = [0; ALIGN as usize];
        let filling = &filling[..(self.at.next_multiple_of(ALIGN) - self.at) as usize];
        self.out.write_all(filling)?;
        sum.update(filling);
        self.at += filling.len() as u64;
        self.sections.push((start, len, sum.finalize()));
        Ok(())
    }

    /// Writes the header and returns the writer.
    pub fn finish(mut self, version: i64, blocks: u64, unreadable: u64) -> io::Result<W> {
        assert_eq!(self.sections.len(), Section::ALL.len(), "format: every section was written");
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(FORMAT.to_le_bytes());
        header.extend((Section::ALL.len() as u32).to_le_bytes());
        header.extend(version.to_le_bytes());
        for number in [chemistry(), self.at, blocks, unreadable] {
            header.extend(number.to_le_bytes());
        }
        for (start, len, sum) in self.sections {
            header.extend(start.to_le_bytes());
            header.extend(len.to_le_bytes());
            header.extend(sum.to_le_bytes());
            header.extend([0; 4]);
        }
        header.resize(HEADER - 4, 0);
        header.extend(crc32fast::hash(&header).to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header)?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Digest of the keys, forms and fingerprints that this release computes for some sample molecules.
pub fn chemistry() -> u64 {
    const SAMPLES: [&str; 7] = [
        "CCO",
        "O=c1cccc[nH]1",
        "C[C@H](N)C(=O)O",
        "C/C=C/c1ccccc1",
        "[O-][n+]1ccccc1",
        "CC(=O)[O-].[Na+]",
        "C[B-]12OC(=O)C[N+]1(C)CC(=O)O2",
    ];
    let mut facts = Vec::new();
    for molecule in SAMPLES.iter().filter_map(|smiles| Molecule::trusted(smiles).ok()) {
        facts.extend(molecule.key().number().to_le_bytes());
        facts.extend(molecule.skeleton().number().to_le_bytes());
        facts.extend(molecule.tautomer_key().number().to_le_bytes());
        facts.extend(molecule.fingerprint().to_bytes());
    }
    let (one, other) = facts.split_at(facts.len() / 2);
    u64::from(crc32fast::hash(one)) << 32 | u64::from(crc32fast::hash(other))
}
