//! Gzipped JSON, as tables and outcomes of jobs store it.

use std::io::{self, BufReader, Read};

use base64::{Engine, engine::general_purpose::STANDARD};
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

/// Returns the JSON of a bulk query's outcome, which is in Base64.
pub fn outcome_json(zipped: &str) -> io::Result<Vec<u8>> {
    let zipped = STANDARD.decode(zipped).map_err(io::Error::other)?;
    let mut json = Vec::new();
    GzDecoder::new(&*zipped).read_to_end(&mut json)?;
    Ok(json)
}
