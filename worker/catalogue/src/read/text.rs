//! Fields of a line, and decoding of bytes to text.

use std::borrow::Cow;

use memchr::memchr;

/// Decodes `bytes` as UTF-8, otherwise as Windows-1252, in which every byte is a character.
pub(crate) fn decode(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => match str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(latin1(bytes)),
        },
        Cow::Owned(bytes) => {
            Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| latin1(error.as_bytes())))
        }
    }
}

fn latin1(bytes: &[u8]) -> String {
    let character = |&byte: &u8| match byte {
        0x80 => '€',
        0x91 | 0x92 => '\'',
        0x93 | 0x94 => '"',
        0x96 => '–',
        0x97 => '—',
        byte => char::from(byte),
    };
    bytes.iter().map(character).collect()
}

/// Splits a record at delimiters and removes the quotes around fields.
pub(crate) fn delimited(record: &[u8], delimiter: u8) -> Vec<Cow<'_, [u8]>> {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    let mut rest = record.strip_suffix(b"\r").unwrap_or(record);
    let mut fields = Vec::new();
    loop {
        let (field, behind) = match rest.strip_prefix(b"\"") {
            Some(quoted) => unquoted(quoted, delimiter),
            None => {
                let end = memchr(delimiter, rest);
                (Cow::Borrowed(&rest[..end.unwrap_or(rest.len())]), end.map(|end| &rest[end + 1..]))
            }
        };
        fields.push(field);
        match behind {
            Some(behind) => rest = behind,
            None => return fields,
        }
    }
}

/// Parses a field after its opening quote; returns it and the text after the next delimiter. Text between the closing
/// quote and the delimiter belongs to the field.
fn unquoted(text: &[u8], delimiter: u8) -> (Cow<'_, [u8]>, Option<&[u8]>) {
    let mut field = Cow::Borrowed(&text[..0]);
    let mut at = 0;
    loop {
        let Some(quote) = memchr(b'"', &text[at..]).map(|quote| at + quote) else {
            return (joined(field, &text[at..]), None);
        };
        field = joined(field, &text[at..quote]);
        if text.get(quote + 1) == Some(&b'"') {
            field = joined(field, b"\"");
            at = quote + 2;
            continue;
        }
        let end = memchr(delimiter, &text[quote + 1..]).map(|end| quote + 1 + end);
        field = joined(field, &text[quote + 1..end.unwrap_or(text.len())]);
        return (field, end.map(|end| &text[end + 1..]));
    }
}

fn joined<'a>(before: Cow<'a, [u8]>, after: &'a [u8]) -> Cow<'a, [u8]> {
    if before.is_empty() {
        return Cow::Borrowed(after);
    }
    if after.is_empty() {
        return before;
    }
    let mut bytes = before.into_owned();
    bytes.extend_from_slice(after);
    Cow::Owned(bytes)
}

/// Splits a line at blanks; a ChemAxon extension (`CCO |r|`) stays with its SMILES.
pub(crate) fn words(record: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut rest = record.trim_ascii();
    let mut words = Vec::new();
    loop {
        let first = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let end = extension(&rest[first..]).map_or(first, |(_, end)| first + end);
        words.push(Cow::Borrowed(&rest[..end]));
        rest = rest[end..].trim_ascii_start();
        if rest.is_empty() {
            return words;
        }
    }
}

/// Begin and end of a ChemAxon extension behind blanks: `|&1:1,3|`, but not `| 1 |`.
fn extension(behind: &[u8]) -> Option<(usize, usize)> {
    let blanks = behind.iter().position(|byte| !byte.is_ascii_whitespace()).filter(|&blanks| blanks > 0)?;
    let inner = behind[blanks..].strip_prefix(b"|")?;
    let length = memchr(b'|', inner).filter(|&length| length > 0)?;
    let is_padded = inner[0].is_ascii_whitespace() || inner[length - 1].is_ascii_whitespace();
    (!is_padded).then_some((blanks, blanks + length + 2))
}

/// Removes the first ChemAxon extension of a record, whose marks are no delimiters.
pub(crate) fn without_extension(record: &[u8]) -> Cow<'_, [u8]> {
    let blank = memchr(b'|', record).map(|bar| record[..bar].trim_ascii_end().len());
    match blank.and_then(|blank| Some((blank, extension(&record[blank..])?))) {
        Some((blank, (_, end))) => Cow::Owned([&record[..blank], &record[blank + end..]].concat()),
        None => Cow::Borrowed(record),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(fields: Vec<Cow<'_, [u8]>>) -> Vec<String> {
        fields.into_iter().map(|field| decode(field).into_owned()).collect()
    }

    #[test]
    fn quotes_around_a_field_are_taken_off() {
        let cases: [(&str, &[&str]); 8] = [
            ("a,b\r\n", &["a", "b"]),
            ("a,", &["a", ""]),
            ("", &[""]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("\"a\"\"b\",\"\"", &["a\"b", ""]),
            ("\"two\nlines\",c\n", &["two\nlines", "c"]),
            ("5\" pipe,c", &["5\" pipe", "c"]),
            ("\"a\"b,\"c", &["ab", "c"]),
        ];
        for (record, expected) in cases {
            assert_eq!(texts(delimited(record.as_bytes(), b',')), expected, "{record:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_latin1() {
        assert_eq!(texts(delimited(b"5 \xb5g;12 \x80;\xc2\xb5", b';')), ["5 µg", "12 €", "µ"]);
    }

    #[test]
    fn an_extension_stays_with_its_smiles() {
        assert_eq!(texts(words(b"CCO |$a b;;$| Z1  x\r\n")), ["CCO |$a b;;$|", "Z1", "x"]);
        assert_eq!(texts(words(b" CCO\tZ1\n")), ["CCO", "Z1"]);
        assert_eq!(texts(words(b"Z1 C[C@H](N)O |&1:1| x")), ["Z1", "C[C@H](N)O |&1:1|", "x"]);
        assert_eq!(texts(words(b"CCO | 1 | 5")), ["CCO", "|", "1", "|", "5"]);
        assert_eq!(texts(words(b"")), [""]);
        assert_eq!(&*without_extension(b"CCO |&1:1,3| Z1"), b"CCO Z1");
        assert_eq!(&*without_extension(b"CCO |1|2"), b"CCO2");
        assert_eq!(&*without_extension(b"CCO|1|2"), b"CCO|1|2");
    }
}
