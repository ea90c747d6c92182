//! Records of SDF files: a connection table and named data (MDL, "CTfile Formats", SDfile).

use crate::fault::RecordFault;

/// Name of the connection table among a record's fields.
pub(crate) const STRUCTURE: &str = "(connection table)";

/// Parses the connection table and the data of a record. If a data name occurs twice, the first counts.
pub(crate) fn fields(record: &str) -> Result<Vec<(&str, String)>, RecordFault> {
    const END: &str = "M  END";
    let missing = || RecordFault::Molfile { reason: "no `M  END`".into() };
    let end = record
        .match_indices(END)
        .map(|(at, _)| at)
        .find(|&at| at == 0 || record.as_bytes()[at - 1] == b'\n')
        .ok_or_else(missing)?;
    let mut fields = vec![(STRUCTURE, record[..end + END.len()].to_owned())];
    let mut lines = record[end + END.len()..].lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix('>') else { continue };
        let Some((_, name)) = head.split_once('<') else { continue };
        let Some((name, _)) = name.rsplit_once('>') else { continue };
        let data: Vec<&str> = lines
            .by_ref()
            .map(str::trim_end)
            .take_while(|line| !line.is_empty() && *line != "$$$$")
            .collect();
        if !fields.iter().any(|(known, _)| *known == name) {
            fields.push((name, data.join("\n")));
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_connection_table_and_its_data() {
        let record = "name\r\n\r\n\r\n  0  0\r\nM  END\r\n>  <ID>  (1)\r\nZ1\r\n\r\n> <NOTE>\r\ntwo\r\nlines\r\n\r\n> <ID>\r\nZ2\r\n\r\n$$$$\r\n";

        let found = fields(record).unwrap();

        assert_eq!(found[0].0, STRUCTURE);
        assert!(found[0].1.ends_with("M  END"));
        assert_eq!(found[1..], [("ID", "Z1".to_owned()), ("NOTE", "two\nlines".to_owned())]);
        assert_eq!(fields("> <ID>\n1\n\n$$$$\n"), Err(RecordFault::Molfile { reason: "no `M  END`".into() }));
    }
}
