//! Decompression of a file.
//!
//! Compression is detected from a file's first bytes and not from its name: downloads are renamed, and their
//! extensions may be wrong.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

/// Input to read.
#[derive(Debug, Clone)]
pub enum ReadInput {
    /// A file.
    File(PathBuf),
    /// Bytes in memory, with a name.
    Bytes(String, Vec<u8>),
}

impl ReadInput {
    /// Name of the input.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Bytes(name, _) => name.clone(),
        }
    }
}

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// gzip, with one or several members.
    Gzip,
    /// Zstandard, with one or several frames.
    Zstd,
    /// bzip2, with one or several streams.
    Bzip2,
}

impl Compression {
    /// Bytes needed to detect the compression.
    const MAGIC_BYTES: usize = 4;

    fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            _ => Self::None,
        }
    }

    /// Name for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "not packed",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// The bytes of an input.
pub(crate) struct Source {
    pub(crate) bytes: Box<dyn Read + Send>,
    pub(crate) compression: Compression,
    /// Bytes read from the input, before decompression.
    pub(crate) taken: Arc<AtomicU64>,
    /// Total bytes of the input.
    pub(crate) size: u64,
}

impl Source {
    pub(crate) fn open(input: &ReadInput) -> io::Result<Self> {
        let (size, raw): (u64, Box<dyn Read + Send>) = match input {
            ReadInput::File(path) => {
                let file = File::open(path)?;
                (file.metadata()?.len(), Box::new(file))
            }
            ReadInput::Bytes(_, bytes) => (bytes.len() as u64, Box::new(Cursor::new(bytes.clone()))),
        };
        let taken = Arc::new(AtomicU64::new(0));
        let mut raw = BufReader::with_capacity(1 << 16, CountingReader { raw, taken: Arc::clone(&taken) });
        let mut start = Vec::with_capacity(Compression::MAGIC_BYTES);
        raw.by_ref().take(Compression::MAGIC_BYTES as u64).read_to_end(&mut start)?;
        let compression = Compression::of(&start);
        let whole = BufReader::with_capacity(1 << 16, Cursor::new(start).chain(raw));
        let bytes: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            Compression::Gzip => Box::new(MultiGzDecoder::new(whole)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(whole)?),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(whole)),
        };
        Ok(Self { bytes, compression, taken, size })
    }
}

/// Reader that counts the bytes read.
struct CountingReader {
    raw: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.raw.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
