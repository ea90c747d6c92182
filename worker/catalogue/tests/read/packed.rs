//! Compressed bytes, and Parquet tables.

use std::{io::Write as _, sync::Arc};

use catalogue::read::Compression;
use parquet::{
    data_type::{ByteArray, ByteArrayType},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

/// Every compression.
pub const ALL: [Compression; 4] =
    [Compression::None, Compression::Gzip, Compression::Zstd, Compression::Bzip2];

pub fn packed(bytes: &[u8], how: Compression) -> Vec<u8> {
    match how {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => zstd::stream::encode_all(bytes, 1).unwrap(),
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
    }
}

/// A table of texts; an empty text becomes null.
pub fn parquet(names: &[&str], rows: &[Vec<String>]) -> Vec<u8> {
    let fields: String = names.iter().map(|name| format!("optional binary {name} (UTF8); ")).collect();
    let schema = Arc::new(parse_message_type(&format!("message table {{ {fields} }}")).unwrap());
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    // Several row groups, as in large files.
    for group in rows.chunks(7) {
        let mut writer = file.next_row_group().unwrap();
        let mut at = 0;
        while let Some(mut column) = writer.next_column().unwrap() {
            let given = |row: &Vec<String>| !row[at].is_empty();
            let levels: Vec<i16> = group.iter().map(|row| i16::from(given(row))).collect();
            let values: Vec<ByteArray> =
                group.iter().filter(|row| given(row)).map(|row| row[at].as_str().into()).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
            column.close().unwrap();
            at += 1;
        }
        writer.close().unwrap();
    }
    file.close().unwrap();
    bytes
}
