//! Checks of weight files that a worker may load later: they are readable, and every number in them is finite.

use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use crate::read;

/// Returns the faults of a safetensors file.
pub fn faults(file: &Path) -> Vec<String> {
    let bytes = match read::bytes(file, read::MAX_WEIGHTS_BYTES) {
        Ok(bytes) => bytes,
        Err(fault) => return vec![fault.to_string()],
    };
    let name = file.display();
    let tensors = match SafeTensors::deserialize(&bytes) {
        Ok(tensors) => tensors,
        Err(fault) => return vec![format!("{name}: not a readable safetensors file: {fault}")],
    };
    let mut faults: Vec<String> = tensors
        .iter()
        .filter(|(_, view)| !all_finite(view.dtype(), view.data()))
        .map(|(tensor, _)| format!("{name}: tensor `{tensor}` holds a number that is not finite"))
        .collect();
    faults.sort();
    faults
}

/// Returns true if all numbers are finite. In these formats a number is not finite if all bits of its exponent are
/// set.
fn all_finite(dtype: Dtype, bytes: &[u8]) -> bool {
    let words = |mask: u16| bytes.as_chunks().0.iter().all(|word| u16::from_le_bytes(*word) & mask != mask);
    match dtype {
        Dtype::F16 => words(0x7C00),
        Dtype::BF16 => words(0x7F80),
        Dtype::F32 => bytes.as_chunks().0.iter().all(|word| f32::from_le_bytes(*word).is_finite()),
        Dtype::F64 => bytes.as_chunks().0.iter().all(|word| f64::from_le_bytes(*word).is_finite()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_seen_in_every_format() {
        let cases: [(Dtype, Vec<u8>, Vec<u8>); 4] = [
            (Dtype::F16, 0x7BFF_u16.to_le_bytes().into(), 0xFC00_u16.to_le_bytes().into()),
            (Dtype::BF16, 0x7F7F_u16.to_le_bytes().into(), 0x7FC0_u16.to_le_bytes().into()),
            (Dtype::F32, f32::MAX.to_le_bytes().into(), f32::NAN.to_le_bytes().into()),
            (Dtype::F64, f64::MIN.to_le_bytes().into(), f64::NEG_INFINITY.to_le_bytes().into()),
        ];
        for (dtype, finite, not) in cases {
            assert!(all_finite(dtype, &finite), "{dtype:?}");
            assert!(!all_finite(dtype, &[finite, not].concat()), "{dtype:?}");
        }
        assert!(all_finite(Dtype::U8, &[255; 8]));
    }
}
