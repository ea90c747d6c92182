//! Recorded reactions of each template, and the similarity of the nearest one.

use std::path::Path;

use chem::Fingerprint;

use crate::model::error::ModelError;
use crate::model::tensors::Weights;

/// Bits of a folded fingerprint.
const BITS: usize = 512;
/// Words of a folded fingerprint.
type Folded = [u64; BITS / 64];

/// Products of recorded reactions, a few for each template.
pub struct Precedents {
    /// Start of each template's products, and one more entry for the end.
    starts: Vec<u32>,
    products: Vec<Folded>,
}

impl Precedents {
    /// Loads `starts` `[N + 1]`, unsigned and ascending, and `bits` `[M, 64]`, the products' fingerprints folded to
    /// 512 bits.
    pub fn load(path: &Path, templates: usize) -> Result<Self, ModelError> {
        Self::of(&Weights::read(path)?, templates)
    }

    /// Reads the precedents from a file.
    pub fn of(file: &Weights, templates: usize) -> Result<Self, ModelError> {
        let starts = file.unsigned("starts", &[templates + 1])?;
        let count = *starts.last().expect("precedents: there is an end") as usize;
        if !starts.is_sorted() || starts[0] != 0 {
            return Err(file.fault("starts", "does not ascend from 0".to_owned()));
        }
        let bytes = file.bytes("bits", &[count, BITS / 8])?;
        let word =
            |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("precedents: words have 8 bytes"));
        let folded = |row: &[u8]| std::array::from_fn(|at| word(&row[8 * at..8 * at + 8]));
        Ok(Self { starts, products: bytes.chunks_exact(BITS / 8).map(folded).collect() })
    }

    /// Similarity, on 512 bits, of the product to the nearest one that a recorded reaction of the template made; `None`
    /// if none is recorded, as for a template that was written by hand.
    pub fn nearest(&self, template: u32, product: &Fingerprint) -> Option<PrecedentSimilarity> {
        let at = template as usize;
        let (&start, &end) = (self.starts.get(at)?, self.starts.get(at + 1)?);
        let product = fold(product);
        let recorded = self.products[start as usize..end as usize].iter();
        recorded.map(|other| PrecedentSimilarity::of(&product, other)).reduce(PrecedentSimilarity::or_nearer)
    }
}

/// Similarity of a product to the nearest recorded one, from 0 to 1, by two measures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PrecedentSimilarity {
    /// Shared bits divided by the bits set in either (Tanimoto).
    pub tanimoto: f32,
    /// Shared bits divided by the geometric mean of the two bit counts (cosine).
    pub cosine: f32,
}

impl PrecedentSimilarity {
    fn of(one: &Folded, other: &Folded) -> Self {
        let (mut shared, mut either) = (0, 0);
        for (a, b) in one.iter().zip(other) {
            shared += (a & b).count_ones();
            either += (a | b).count_ones();
        }
        if either == 0 {
            return Self { tanimoto: 1.0, cosine: 1.0 };
        }
        let bits = |folded: &Folded| folded.iter().map(|word| word.count_ones()).sum::<u32>() as f32;
        let mean = (bits(one) * bits(other)).sqrt();
        let cosine = if mean > 0.0 { shared as f32 / mean } else { 0.0 };
        Self { tanimoto: shared as f32 / either as f32, cosine }
    }

    fn or_nearer(self, other: Self) -> Self {
        Self { tanimoto: self.tanimoto.max(other.tanimoto), cosine: self.cosine.max(other.cosine) }
    }
}

/// Folds a fingerprint: bit `i` becomes bit `i % 512`.
fn fold(fingerprint: &Fingerprint) -> Folded {
    let mut folded = [0; BITS / 64];
    for (at, word) in fingerprint.words().iter().enumerate() {
        folded[at % (BITS / 64)] |= word;
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(starts: &[u32], products: &[&Fingerprint]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let starts_bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
        let bits: Vec<u8> = products
            .iter()
            .flat_map(|product| fold(product).into_iter().flat_map(u64::to_le_bytes))
            .collect();
        let view = |dtype, shape, bytes| safetensors::tensor::TensorView::new(dtype, shape, bytes).unwrap();
        let tensors = [
            ("starts", view(safetensors::Dtype::U32, vec![starts.len()], &starts_bytes)),
            ("bits", view(safetensors::Dtype::U8, vec![products.len(), 64], &bits)),
        ];
        let bytes = safetensors::serialize(tensors, None).unwrap();
        std::fs::write(folder.path().join("precedents.safetensors"), bytes).unwrap();
        folder
    }

    #[test]
    fn the_nearest_product_of_the_template_counts() {
        let (a, b) = (Fingerprint::from_on_bits([1, 2, 3]), Fingerprint::from_on_bits([2, 3, 4, 512 + 9]));
        let folder = file(&[0, 1, 1, 3], &[&a, &a, &b]);

        let precedents = Precedents::load(&folder.path().join("precedents.safetensors"), 3).unwrap();

        assert_eq!(precedents.nearest(0, &a).unwrap().tanimoto, 1.0);
        assert_eq!(precedents.nearest(1, &a), None);
        assert_eq!(precedents.nearest(2, &Fingerprint::from_on_bits([2, 3, 4, 9])).unwrap().tanimoto, 1.0);
        let half = precedents.nearest(2, &Fingerprint::from_on_bits([1, 2])).unwrap();
        assert_eq!((half.tanimoto, half.cosine), (2.0 / 3.0, 2.0 / 6.0_f32.sqrt()));
        assert_eq!(precedents.nearest(7, &a), None);
    }

    #[test]
    fn lists_that_do_not_ascend_and_lists_of_another_length_are_refused() {
        let a = Fingerprint::from_on_bits([1]);
        for starts in [&[0, 2, 1][..], &[1, 1, 1], &[0, 1]] {
            let folder = file(starts, &[&a]);
            let fault = Precedents::load(&folder.path().join("precedents.safetensors"), 2).err().unwrap();
            assert!(fault.to_string().contains("starts"), "{fault}");
        }
    }
}
