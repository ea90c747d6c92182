//! Gzipped JSON, as tables store it.

use std::io::{self, BufReader};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Serialize, de::DeserializeOwned};

/// Compresses `value` for storage.
pub fn packed(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut encoder, value)?;
    encoder.finish()
}

/// Decompresses a value that a worker or [`packed`] stored.
pub fn unpacked<T: DeserializeOwned>(zipped: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_reader(BufReader::new(GzDecoder::new(zipped)))
}
