//! InChIKeys, and the known structures that they stand for.
//!
//! A key cannot be converted back to a structure, so a stock of keys only says which of the otherwise known
//! structures can be bought.

use std::collections::HashMap;

/// Length of a key, in bytes.
pub(crate) const LENGTH: usize = 27;

/// Returns true if `text` has the form of an InChIKey: 14, 10 and 1 capital letters.
#[must_use]
pub(crate) fn is_key(text: &str) -> bool {
    is_key_at(text.as_bytes()) && text.len() == LENGTH
}

/// Returns true if `bytes` begin with an InChIKey.
pub(crate) fn is_key_at(bytes: &[u8]) -> bool {
    bytes.len() >= LENGTH
        && bytes[..LENGTH].iter().enumerate().all(|(at, byte)| match at {
            14 | 25 => *byte == b'-',
            _ => byte.is_ascii_uppercase(),
        })
}

/// Structures by their InChIKeys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownKeys(HashMap<String, String>);

impl KnownKeys {
    /// SMILES of a key.
    #[must_use]
    pub fn smiles(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

impl FromIterator<(String, String)> for KnownKeys {
    /// Collects pairs of key and SMILES.
    fn from_iter<I: IntoIterator<Item = (String, String)>>(known: I) -> Self {
        Self(known.into_iter().collect())
    }
}
