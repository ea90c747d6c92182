//! Stocks of InChIKeys in HDF5, as AiZynthFinder's `smiles2stock` writes them with pandas.
//!
//! The HDF5 structure is not parsed. pandas stores a column of keys either as consecutive texts of 27 bytes
//! (`format="table"`) or pickled (`format="fixed"`), uncompressed by default. In both cases the keys appear literally
//! in the file, and nothing else has their form. In a compressed file (`complib=`) no key is found, which is reported
//! as an error.

use std::io::{self, Read};

use super::inchikey::{LENGTH, is_key_at};

/// Bytes per read.
const CHUNK: usize = 1 << 18;

/// The keys of a file, in its order.
pub(crate) struct KeyReader {
    bytes: Box<dyn Read + Send>,
    held: Vec<u8>,
    at: usize,
    offset: u64,
    ended: bool,
}

impl KeyReader {
    pub(crate) fn new(bytes: Box<dyn Read + Send>) -> Self {
        Self { bytes, held: Vec::new(), at: 0, offset: 0, ended: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.offset += self.at as u64;
        self.held.drain(..self.at);
        self.at = 0;
        let read = self.bytes.by_ref().take(CHUNK as u64).read_to_end(&mut self.held)?;
        self.ended = read < CHUNK;
        Ok(())
    }
}

impl Iterator for KeyReader {
    /// A key and its byte offset.
    type Item = io::Result<(u64, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.held.len() - self.at >= LENGTH {
                let here = &self.held[self.at..];
                if is_key_at(here) {
                    let key = here[..LENGTH].to_vec();
                    let offset = self.offset + self.at as u64;
                    self.at += LENGTH;
                    return Some(Ok((offset, key)));
                }
                // A key's first dash is 14 bytes after its start.
                let dash = here.get(14..).and_then(|rest| memchr::memchr(b'-', rest));
                self.at += match dash {
                    Some(0) => 1,
                    Some(distance) => distance,
                    None => here.len() - 14,
                };
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.fill() {
                self.ended = true;
                self.held.clear();
                self.at = 0;
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_wherever_they_stand() {
        const KEYS: [&[u8]; 3] =
            [b"LFQSCWFLJHTTHZ-UHFFFAOYSA-N", b"QUSNBJAOOMFDIB-UHFFFAOYSA-N", b"UHOVQNZJYSORNB-UHFFFAOYSA-N"];
        // Adjacent keys, among letters and dashes, and across the end of a read.
        let mut bytes = [&b"\x89HDF-A-B--"[..], KEYS[0], KEYS[1], b"X-"].concat();
        bytes.resize(CHUNK - 10, b'A');
        bytes.extend_from_slice(KEYS[2]);

        let keys: Vec<(u64, Vec<u8>)> =
            KeyReader::new(Box::new(io::Cursor::new(bytes))).map(Result::unwrap).collect();

        let expected = [(10, KEYS[0]), (37, KEYS[1]), (CHUNK as u64 - 10, KEYS[2])];
        assert_eq!(keys, expected.map(|(at, key)| (at, key.to_vec())));
    }
}
