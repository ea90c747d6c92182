//! Tables of text as Parquet files: one row group, one page per column, no compression.
//!
//! This needs little enough of the format (Apache Parquet, "File format"; its headers in Thrift's compact protocol)
//! to be written here; the crate for it would add dozens of dependencies. The integers are the values of the names in
//! `parquet.thrift`.

/// First and last bytes of the file.
const MAGIC: &[u8] = b"PAR1";
/// `Type.BYTE_ARRAY`, `Encoding.PLAIN`, `Encoding.RLE`, `PageType.DATA_PAGE`, `CompressionCodec.UNCOMPRESSED`.
const BYTE_ARRAY: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DATA_PAGE: i64 = 0;
const UNCOMPRESSED: i64 = 0;
/// `FieldRepetitionType.REQUIRED`, `ConvertedType.UTF8`.
const REQUIRED: i64 = 0;
const UTF8: i64 = 0;

/// Encodes a table, whose columns have equal length, as a file.
pub fn table(columns: &[(&str, Vec<&str>)]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    let mut file = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for (name, values) in columns {
        let (offset, page) = (file.len(), page(values));
        file.extend_from_slice(&page);
        chunks.push((*name, offset, page.len()));
    }
    let footer = footer(&chunks, rows);
    file.extend_from_slice(&footer);
    file.extend_from_slice(&u32::try_from(footer.len()).unwrap_or(u32::MAX).to_le_bytes());
    file.extend_from_slice(MAGIC);
    file
}

/// Encodes a `PageHeader` and its page: every value after its length.
fn page(values: &[&str]) -> Vec<u8> {
    let mut data = Vec::new();
    for value in values {
        data.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
        data.extend_from_slice(value.as_bytes());
    }
    let header = Struct::new()
        .int32(1, DATA_PAGE)
        .int32(2, length(data.len()))
        .int32(3, length(data.len()))
        .group(5, Struct::new().int32(1, length(values.len())).int32(2, PLAIN).int32(3, RLE).int32(4, RLE));
    let mut page = header.end();
    page.extend_from_slice(&data);
    page
}

/// Encodes the `FileMetaData` of columns by name, offset and length.
fn footer(chunks: &[(&str, usize, usize)], rows: usize) -> Vec<u8> {
    let root = Struct::new().text(4, "schema").int32(5, length(chunks.len()));
    let column = |(name, ..): &(&str, usize, usize)| {
        Struct::new().int32(1, BYTE_ARRAY).int32(3, REQUIRED).text(4, name).int32(6, UTF8)
    };
    let schema: Vec<_> = std::iter::once(root).chain(chunks.iter().map(column)).map(Struct::end).collect();
    let chunk = |(name, offset, size): &(&str, usize, usize)| {
        let data = Struct::new()
            .int32(1, BYTE_ARRAY)
            .list(2, INT32, &[integer(PLAIN)])
            .list(3, BINARY, &[binary(name)])
            .int32(4, UNCOMPRESSED)
            .int64(5, length(rows))
            .int64(6, length(*size))
            .int64(7, length(*size))
            .int64(9, length(*offset));
        Struct::new().int64(2, length(*offset)).group(3, data).end()
    };
    let size: usize = chunks.iter().map(|(.., size)| size).sum();
    let group = Struct::new()
        .list(1, STRUCT, &chunks.iter().map(chunk).collect::<Vec<_>>())
        .int64(2, length(size))
        .int64(3, length(rows));
    Struct::new()
        .int32(1, 1)
        .list(2, STRUCT, &schema)
        .int64(3, length(rows))
        .list(4, STRUCT, &[group.end()])
        .text(6, concat!("retort version ", env!("CARGO_PKG_VERSION")))
        .end()
}

fn length(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Type codes of Thrift's compact protocol.
const INT32: u8 = 5;
const INT64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct in Thrift's compact protocol; fields come in the order of their numbers.
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn new() -> Self {
        Self { bytes: Vec::new(), last: 0 }
    }

    fn int32(self, number: u8, value: i64) -> Self {
        self.field(number, INT32, &integer(value))
    }

    fn int64(self, number: u8, value: i64) -> Self {
        self.field(number, INT64, &integer(value))
    }

    fn text(self, number: u8, value: &str) -> Self {
        self.field(number, BINARY, &binary(value))
    }

    fn group(self, number: u8, value: Self) -> Self {
        self.field(number, STRUCT, &value.end())
    }

    /// Adds a list of fewer than fifteen encoded elements.
    fn list(self, number: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        debug_assert!(elements.len() < 15, "a longer list has another header");
        let head = [(elements.len() as u8) << 4 | kind];
        self.field(number, LIST, &[&head[..], &elements.concat()].concat())
    }

    /// Adds a field; its number is encoded as the difference from the last one, at most fifteen.
    fn field(mut self, number: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((number - self.last) << 4 | kind);
        self.bytes.extend_from_slice(value);
        self.last = number;
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Encodes an integer: zigzag, then seven bits per byte.
fn integer(value: i64) -> Vec<u8> {
    varint(((value << 1) ^ (value >> 63)).cast_unsigned())
}

fn binary(text: &str) -> Vec<u8> {
    let mut bytes = varint(text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_zigzag_varints() {
        assert_eq!(
            [integer(0), integer(-1), integer(1), integer(150)],
            [vec![0], vec![1], vec![2], vec![0xac, 0x02]]
        );
    }

    /// pyarrow 26 reads these bytes correctly; the output of `retort sample --out` was read back with it.
    #[test]
    fn a_table_is_laid_out_as_the_format_says() {
        let file = table(&[("smiles", vec!["CCO", "C"])]);

        let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        let pages = &file[4..file.len() - 8 - footer];
        assert_eq!((&file[..4], &file[file.len() - 4..]), (MAGIC, MAGIC));
        let header = [0x15, 0, 0x15, 24, 0x15, 24, 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        assert_eq!(pages, [&header[..], b"\x03\0\0\0CCO\x01\0\0\0C"].concat());
    }
}
