//! Cuts a stream of text into records while holding at most [`MAX_RECORD_BYTES`] bytes.

use std::io::{self, Read};

use super::boundary::Boundary;
use crate::{entry::RecordPosition, fault::RecordFault};

/// Maximum length of a record, in bytes. A longer record is rejected and skipped without being held in memory.
pub const MAX_RECORD_BYTES: usize = 1 << 20;

/// Bytes per read.
const CHUNK: usize = 1 << 18;

/// Bytes kept of a skipped record, enough to find its end.
const SKIPPED_TAIL_BYTES: usize = 8;

/// Maximum number of records in a batch.
const MAX_BATCH_RECORDS: usize = 2_048;

/// Batch of cut records, to be parsed.
#[derive(Debug, Default)]
pub(crate) struct RawBatch {
    text: Vec<u8>,
    pieces: Vec<(RecordPosition, Result<usize, RecordFault>)>,
}

impl RawBatch {
    pub(crate) fn push(&mut self, position: RecordPosition, record: &[u8]) {
        self.text.extend_from_slice(record);
        self.pieces.push((position, Ok(record.len())));
    }

    pub(crate) fn reject(&mut self, position: RecordPosition, fault: RecordFault) {
        self.pieces.push((position, Err(fault)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns true if the batch is full.
    pub(crate) fn is_full(&self) -> bool {
        self.pieces.len() >= MAX_BATCH_RECORDS || self.text.len() >= MAX_RECORD_BYTES
    }

    /// The records in the file's order.
    pub(crate) fn records(&self) -> impl Iterator<Item = (RecordPosition, Result<&[u8], &RecordFault>)> {
        let mut begin = 0;
        self.pieces.iter().map(move |(position, piece)| {
            let record = piece.as_ref().map(|length| {
                let record = &self.text[begin..begin + length];
                begin += length;
                record
            });
            (*position, record)
        })
    }
}

/// A stream of text with its read position.
pub(crate) struct RecordCutter {
    bytes: Box<dyn Read + Send>,
    held: Vec<u8>,
    begin: usize,
    line: u64,
    offset: u64,
    end: Option<io::Result<()>>,
}

impl RecordCutter {
    pub(crate) fn new(bytes: Box<dyn Read + Send>) -> Self {
        Self { bytes, held: Vec::new(), begin: 0, line: 1, offset: 0, end: None }
    }

    /// Bytes that have been read but not cut.
    pub(crate) fn held(&self) -> &[u8] {
        &self.held[self.begin..]
    }

    /// Position of the first of these bytes.
    pub(crate) const fn position(&self) -> RecordPosition {
        RecordPosition { number: self.line, offset: self.offset }
    }

    /// Returns all bytes that have not been cut.
    pub(crate) fn into_bytes(mut self) -> Box<dyn Read + Send> {
        self.held.drain(..self.begin);
        Box::new(io::Cursor::new(self.held).chain(self.bytes))
    }

    /// Reads more bytes; returns true if there were any.
    pub(crate) fn fill(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        self.held.drain(..self.begin);
        self.begin = 0;
        let before = self.held.len();
        let mut wanted = CHUNK;
        // A carriage return at the end is judged by the byte behind it.
        while self.end.is_none() && (wanted == CHUNK || self.held.last() == Some(&b'\r')) {
            let read = self.bytes.by_ref().take(wanted as u64).read_to_end(&mut self.held);
            match read {
                Ok(read) if read < wanted => self.end = Some(Ok(())),
                Ok(_) => {}
                Err(error) => self.end = Some(Err(error)),
            }
            wanted = 1;
        }
        end_lines(&mut self.held[before..]);
        self.held.len() > before
    }

    /// Returns true if all bytes have been read.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.end.is_some()
    }

    /// Skips `count` of the held bytes.
    pub(crate) fn skip(&mut self, count: usize) {
        let passed = &self.held[self.begin..self.begin + count];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.offset += count as u64;
        self.begin += count;
    }

    /// Cuts the next record; returns true if there was one.
    ///
    /// # Errors
    /// Fails if the stream fails, after all complete records before that point.
    pub(crate) fn cut(&mut self, boundary: &mut Boundary, cut: &mut RawBatch) -> io::Result<bool> {
        loop {
            let lead = boundary.lead(self.held());
            self.skip(lead);
            if !self.held().is_empty() {
                break;
            }
            if !self.fill() {
                return self.ended().map(|()| false);
            }
        }
        boundary.reset();
        let position = self.position();
        let (mut scanned, mut passed_over) = (0, false);
        loop {
            let end = boundary.end(&self.held[self.begin..], scanned);
            if let Some(end) = end {
                if passed_over || end > MAX_RECORD_BYTES {
                    cut.reject(position, RecordFault::TooLong { limit: MAX_RECORD_BYTES });
                } else {
                    cut.push(position, &self.held[self.begin..self.begin + end]);
                }
                self.skip(end);
                return Ok(true);
            }
            scanned = self.held().len();
            if scanned >= MAX_RECORD_BYTES {
                if !passed_over && boundary.is_quoted() && self.reject_first_line(position, cut) {
                    return Ok(true);
                }
                self.skip(scanned - SKIPPED_TAIL_BYTES);
                boundary.shift(scanned - SKIPPED_TAIL_BYTES);
                (scanned, passed_over) = (SKIPPED_TAIL_BYTES, true);
            }
            if !self.fill() {
                return self.cut_rest(boundary, position, passed_over, cut);
            }
        }
    }

    /// Cuts the rest at the end of the stream.
    fn cut_rest(
        &mut self,
        boundary: &Boundary,
        position: RecordPosition,
        passed_over: bool,
        cut: &mut RawBatch,
    ) -> io::Result<bool> {
        self.ended()?;
        let rest = &self.held[self.begin..];
        if rest.trim_ascii().is_empty() && !passed_over {
            self.skip(self.held().len());
            return Ok(false);
        }
        if boundary.is_quoted() && !passed_over && self.reject_first_line(position, cut) {
            return Ok(true);
        }
        let rest = &self.held[self.begin..];
        match boundary.check_rest(rest) {
            _ if passed_over || rest.len() > MAX_RECORD_BYTES => {
                cut.reject(position, RecordFault::TooLong { limit: MAX_RECORD_BYTES })
            }
            _ if boundary.is_quoted() => cut.reject(position, RecordFault::OpenQuote),
            Err(fault) => cut.reject(position, fault),
            Ok(()) => cut.push(position, rest),
        }
        self.skip(self.held().len());
        Ok(true)
    }

    /// Rejects the first line of a record with an unclosed quote, so that the quote affects no other line. Returns
    /// true if there is a line.
    fn reject_first_line(&mut self, position: RecordPosition, cut: &mut RawBatch) -> bool {
        let Some(line) = memchr::memchr(b'\n', self.held()) else { return false };
        cut.reject(position, RecordFault::OpenQuote);
        self.skip(line + 1);
        true
    }

    fn ended(&mut self) -> io::Result<()> {
        match self.end.replace(Ok(())) {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Turns carriage returns that end a line by themselves, as on a Macintosh before 2001, into line feeds.
fn end_lines(text: &mut [u8]) {
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'\r', &text[from..]) {
        let at = from + found;
        if text.get(at + 1) != Some(&b'\n') {
            text[at] = b'\n';
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Every record of a text or its fault, with its line.
    fn records(text: &[u8], mut boundary: Boundary) -> Vec<(u64, Result<String, RecordFault>)> {
        let mut window = RecordCutter::new(Box::new(Cursor::new(text.to_vec())));
        let mut cut = RawBatch::default();
        while window.cut(&mut boundary, &mut cut).unwrap() {
            assert!(window.held.capacity() <= 3 * MAX_RECORD_BYTES, "{} bytes held", window.held.capacity());
        }
        let text = |record: &[u8]| String::from_utf8_lossy(record).trim_end().to_owned();
        cut.records()
            .map(|(position, record)| (position.number, record.map(text).map_err(Clone::clone)))
            .collect()
    }

    fn whole(records: &[(u64, &str)]) -> Vec<(u64, Result<String, RecordFault>)> {
        records.iter().map(|&(line, text)| (line, Ok(text.to_owned()))).collect()
    }

    #[test]
    fn a_record_is_known_by_the_line_it_begins_on() {
        let cases: [(&str, &[(u64, &str)]); 7] = [
            ("smiles\rCCO\r\rCCN\r", &[(1, "smiles"), (2, "CCO"), (4, "CCN")]),
            ("smiles\nCCO\rCCN\r\nCCC", &[(1, "smiles"), (2, "CCO"), (3, "CCN"), (4, "CCC")]),
            ("smiles\nCCO\nCCN", &[(1, "smiles"), (2, "CCO"), (3, "CCN")]),
            ("smiles\r\nCCO\r\nCCN\r\n", &[(1, "smiles"), (2, "CCO"), (3, "CCN")]),
            ("smiles\n\nCCO\n\n\nCCN\n", &[(1, "smiles"), (3, "CCO"), (6, "CCN")]),
            (
                "a,\"two\nlines\"\nb,\"x\"\"y\n\"\nc",
                &[(1, "a,\"two\nlines\""), (3, "b,\"x\"\"y\n\""), (5, "c")],
            ),
            ("5\" pipe,1\nb", &[(1, "5\" pipe,1"), (2, "b")]),
        ];
        for (text, expected) in cases {
            assert_eq!(records(text.as_bytes(), Boundary::delimited(b',')), whole(expected), "{text:?}");
        }
    }

    #[test]
    fn a_line_end_between_two_reads_is_one() {
        for (end, lines) in [("\r\n", 1), ("\r", 1), ("\r\r", 2), ("\n", 1)] {
            for short in 0..3 {
                let text = format!("{}{end}CCN{end}", "C".repeat(CHUNK - short));

                let found = records(text.as_bytes(), Boundary::delimited(b','));

                let places: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
                assert_eq!(places, [1, 1 + lines], "{end:?}, {short}");
                assert_eq!(found[1].1.as_deref(), Ok("CCN"));
            }
        }
    }

    #[test]
    fn a_quote_that_does_not_close_costs_its_own_line() {
        let text = format!("a,\"b\nc,d\n{}", "e,f\n".repeat(MAX_RECORD_BYTES / 4));

        for text in [text.as_bytes(), &text.as_bytes()[..20]] {
            let found = records(text, Boundary::delimited(b','));

            assert_eq!(found[0], (1, Err(RecordFault::OpenQuote)));
            assert_eq!(found[1..3], whole(&[(2, "c,d"), (3, "e,f")]));
        }
    }

    #[test]
    fn a_line_of_ten_megabytes_is_left_out_and_never_held() {
        let long = "x".repeat(10 << 20);
        let cases = [
            (format!("a\n{long}\nb\n"), Boundary::delimited(b',')),
            (format!("a\n{long}\nb"), Boundary::Line),
            (format!("a\n\"{long}\"\nb"), Boundary::delimited(b',')),
            (format!("{{}}\n{{\"{long}\":[1]}}{{}}"), Boundary::object()),
            (format!("a\n$$$$\n{long}\n$$$$\nb\n$$$$\n"), Boundary::dollars()),
        ];
        for (text, boundary) in cases {
            let found = records(text.as_bytes(), boundary);

            assert_eq!(found.len(), 3);
            assert_eq!(found[1].1, Err(RecordFault::TooLong { limit: MAX_RECORD_BYTES }));
            assert!(found[0].1.is_ok() && found[2].1.is_ok());
        }
    }

    #[test]
    fn objects_are_cut_in_an_array_and_out_of_it() {
        let expected = whole(&[(2, "{\"a\": \"}\\\"{\", \"b\": [{}]}"), (4, "{\n}")]);

        for text in [
            "[\n {\"a\": \"}\\\"{\", \"b\": [{}]},\n\n{\n}\n]\n",
            "\n{\"a\": \"}\\\"{\", \"b\": [{}]}\n\n{\n}\n",
        ] {
            assert_eq!(records(text.as_bytes(), Boundary::object()), expected, "{text}");
        }
        assert_eq!(records(b"[{\"a\": 1},{\"a\"", Boundary::object())[1], (1, Err(RecordFault::Cut)));
    }

    #[test]
    fn a_file_that_ends_within_a_record_says_so() {
        let found = records(b"one\n$$$$\r\ntwo\n$$$", Boundary::dollars());

        assert_eq!(found, [(1, Ok("one\n$$$$".to_owned())), (3, Err(RecordFault::Cut))]);
        assert_eq!(records(b"one\n$$$$", Boundary::dollars()), whole(&[(1, "one\n$$$$")]));
    }
}
