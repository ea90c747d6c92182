//! Boundaries between the records of a text, found while holding one record at most.

use memchr::{memchr, memchr2};

use crate::fault::RecordFault;

/// Rule that separates the records of a text. The state remembers how far the current record has been scanned.
#[derive(Debug, Clone)]
pub(crate) enum Boundary {
    /// Lines in which quotes may contain line feeds; `closed` is the position after the last closing quote.
    Delimited { delimiter: u8, quoted: bool, closed: usize },
    /// Lines.
    Line,
    /// JSON objects, concatenated or in an array.
    Object { depth: usize, text: bool, escaped: bool },
    /// Lines up to a line of four dollars.
    Dollars { line: usize },
}

impl Boundary {
    pub(crate) const fn delimited(delimiter: u8) -> Self {
        Self::Delimited { delimiter, quoted: false, closed: 0 }
    }

    pub(crate) const fn object() -> Self {
        Self::Object { depth: 0, text: false, escaped: false }
    }

    pub(crate) const fn dollars() -> Self {
        Self::Dollars { line: 0 }
    }

    /// Number of separator bytes before the next record.
    pub(crate) fn lead(&self, held: &[u8]) -> usize {
        let between: &[u8] = match self {
            Self::Delimited { .. } | Self::Line => b"\r\n",
            Self::Object { .. } => b" \t\r\n,[]",
            // The three lines before a connection table may be empty.
            Self::Dollars { .. } => b"",
        };
        held.iter().position(|byte| !between.contains(byte)).unwrap_or(held.len())
    }

    /// Resets the state for the next record.
    pub(crate) const fn reset(&mut self) {
        match self {
            Self::Delimited { quoted, closed, .. } => (*quoted, *closed) = (false, 0),
            Self::Line => {}
            Self::Object { depth, text, escaped } => (*depth, *text, *escaped) = (0, false, false),
            Self::Dollars { line } => *line = 0,
        }
    }

    /// Adjusts the state after the first `count` bytes of the record were dropped.
    pub(crate) const fn shift(&mut self, count: usize) {
        match self {
            Self::Dollars { line: position } | Self::Delimited { closed: position, .. } => {
                *position = position.saturating_sub(count);
            }
            Self::Line | Self::Object { .. } => {}
        }
    }

    /// Returns true while the record has an open quote.
    pub(crate) const fn is_quoted(&self) -> bool {
        matches!(self, Self::Delimited { quoted: true, .. })
    }

    /// End of the record at the start of `held`; its first `from` bytes have been scanned already.
    pub(crate) fn end(&mut self, held: &[u8], from: usize) -> Option<usize> {
        match self {
            Self::Line => memchr(b'\n', &held[from..]).map(|at| from + at + 1),
            Self::Delimited { delimiter, quoted, closed } => {
                let mut at = from;
                loop {
                    if *quoted {
                        at += memchr(b'"', &held[at..])? + 1;
                        (*quoted, *closed) = (false, at);
                        continue;
                    }
                    at += memchr2(b'"', b'\n', &held[at..])?;
                    if held[at] == b'\n' {
                        return Some(at + 1);
                    }
                    // A quote opens only at the beginning of a field; two quotes within a field are an escaped quote.
                    *quoted = at == 0 || held[at - 1] == *delimiter || at == *closed;
                    at += 1;
                }
            }
            Self::Object { depth, text, escaped } => {
                for (at, &byte) in held.iter().enumerate().skip(from) {
                    if *text {
                        match byte {
                            _ if *escaped => *escaped = false,
                            b'\\' => *escaped = true,
                            b'"' => *text = false,
                            _ => {}
                        }
                        continue;
                    }
                    match byte {
                        b'"' => *text = true,
                        b'{' | b'[' => *depth += 1,
                        b'}' | b']' => {
                            *depth = depth.saturating_sub(1);
                            if *depth == 0 {
                                return Some(at + 1);
                            }
                        }
                        b',' | b'\n' if *depth == 0 => return Some(at + 1),
                        _ => {}
                    }
                }
                None
            }
            Self::Dollars { line } => {
                while let Some(length) = memchr(b'\n', &held[*line..]) {
                    let begun = *line;
                    *line += length + 1;
                    if held[begun..*line].trim_ascii_end() == b"$$$$" {
                        return Some(*line);
                    }
                }
                None
            }
        }
    }

    /// Checks that the rest of a file is a complete record.
    pub(crate) fn check_rest(&self, rest: &[u8]) -> Result<(), RecordFault> {
        let whole = match self {
            Self::Delimited { .. } | Self::Line => true,
            Self::Object { depth, .. } => *depth == 0,
            Self::Dollars { line } => rest[*line..].trim_ascii_end() == b"$$$$",
        };
        if whole { Ok(()) } else { Err(RecordFault::Cut) }
    }
}
