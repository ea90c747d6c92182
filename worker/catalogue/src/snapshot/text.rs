//! Compression of SMILES to a third of their bytes.
//!
//! A SMILES is ASCII, so bytes from 128 on are free. Each stands for a fragment that is frequent in building blocks.
//! The fragments come from byte-pair encoding (Gage, 1994) of 60,000 building blocks of Mcule, WuXi and the USPTO;
//! held-out ones take 8.3 bytes for 23.3 characters. The fragments are part of the file format: changing them
//! requires a new format version.

/// Meanings of the bytes from 128 on, in ascending order.
const FRAGMENTS: [&str; 128] = [
    "(=O)",
    "(=O)O)",
    "(C",
    "(C)",
    "(C)(C)",
    "(C)(C)C",
    "(C)(C)O",
    "(C)C",
    "(CC",
    "(Cl)",
    "(F)",
    "(F)(F)",
    "(F)(F)F)",
    "(N",
    "(N)",
    "(O)",
    "(c2cc",
    ")c1",
    ")cc",
    ")cc1",
    "+]",
    "-]",
    "2)",
    "3)",
    "=O",
    "=O)",
    "B(O)",
    "Br",
    "Br)",
    "Br)cc",
    "C#",
    "C(=O)",
    "C(=O)O",
    "C1",
    "C2",
    "C=",
    "CC",
    "CC(=O)",
    "CC(C)",
    "CC1",
    "CC1(C)",
    "CC1(C)O",
    "CC1(C)OB",
    "CC2",
    "CC2)",
    "CCC",
    "CCC1",
    "CCCC",
    "CCN",
    "CCO",
    "CCOC(=O)",
    "CN",
    "CN1",
    "CO",
    "COC(=O)",
    "COc1cc",
    "Cc1cc",
    "Cc1n",
    "Cl",
    "Cn1",
    "F)",
    "H]",
    "N#",
    "N#Cc1cc",
    "N)",
    "N1",
    "NC(=O)",
    "Nc1cc",
    "O)",
    "O=",
    "O=C",
    "O=C(O)",
    "OC",
    "OC(C)(C)C",
    "OC1",
    "OC1(C)C",
    "S(=O)",
    "S(=O)(=O)",
    "[C",
    "[C@",
    "[C@@",
    "[C@@H]",
    "[C@@H]1",
    "[C@H]",
    "[C@H]1",
    "[N",
    "[N+]",
    "[O",
    "[O-]",
    "[n",
    "[nH]",
    "c(",
    "c(-",
    "c(C",
    "c(C)",
    "c(Cl)",
    "c(F)",
    "c(N",
    "c1",
    "c12",
    "c1cc",
    "c1ccc(",
    "c1ccc(C",
    "c1ccccc1",
    "c1cn",
    "c1n",
    "c2",
    "c2c(",
    "c2c1",
    "c2cc",
    "c2ccccc2",
    "c2n",
    "c3",
    "c3cc",
    "cc",
    "cc(",
    "cc(C",
    "cc1",
    "cc2",
    "ccc1",
    "ccc2",
    "cn",
    "cn1",
    "l)",
    "l)cc",
    "n1",
    "n2",
    "nc1",
];

/// Terminator of a SMILES; never one of its characters.
pub const END: u8 = 0;

/// Appends `smiles` and its terminator to `packed`; `None` if it contains a byte that no SMILES has.
pub fn pack(smiles: &str, packed: &mut Vec<u8>) -> Option<()> {
    if !smiles.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut rest = smiles;
    while let Some(&first) = rest.as_bytes().first() {
        let (code, letters) = longest(rest).unwrap_or((first, 1));
        packed.push(code);
        rest = &rest[letters..];
    }
    packed.push(END);
    Some(())
}

/// The longest fragment that `text` starts with, and its length.
fn longest(text: &str) -> Option<(u8, usize)> {
    let first = text.as_bytes()[0];
    let start = FRAGMENTS.partition_point(|piece| piece.as_bytes()[0] < first);
    let alike = FRAGMENTS[start..].iter().take_while(|piece| piece.as_bytes()[0] == first);
    let fitting = (start..).zip(alike).filter(|(_, piece)| text.starts_with(**piece));
    // A fragment is sorted after its own prefixes.
    fitting.last().map(|(at, piece)| (128 + at as u8, piece.len()))
}

/// Unpacks the SMILES at the start of `packed`, up to its terminator.
pub fn unpack(packed: &[u8]) -> String {
    let mut smiles = String::with_capacity(64);
    for &code in packed.iter().take_while(|&&code| code != END) {
        match code.checked_sub(128) {
            Some(piece) => smiles.push_str(FRAGMENTS[usize::from(piece)]),
            None => smiles.push(char::from(code)),
        }
    }
    smiles
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pieces_ascend_and_have_two_letters_or_more() {
        assert!(FRAGMENTS.is_sorted_by(|a, b| a < b));
        assert!(FRAGMENTS.iter().all(|piece| piece.len() > 1));
    }

    #[test]
    fn a_smiles_is_packed_into_the_longest_pieces() {
        let mut packed = Vec::new();

        pack("Nc1ccccc1", &mut packed).unwrap();

        assert_eq!(packed.len(), "Nc1cc|ccc1|".split('|').count());
        assert_eq!(unpack(&packed), "Nc1ccccc1");
    }

    #[test]
    fn what_no_smiles_has_is_refused() {
        for text in ["C C", "C\0C", "\u{e9}", "C\n"] {
            assert_eq!(pack(text, &mut Vec::new()), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_back(smiles in "[!-~]{0,40}|[CNOcno()=#1-4\\[\\]@H+-]{0,80}") {
            let mut packed = Vec::new();

            pack(&smiles, &mut packed).unwrap();

            prop_assert_eq!(packed.last(), Some(&END));
            prop_assert_eq!(unpack(&packed), smiles);
        }
    }
}
