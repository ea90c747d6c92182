//! Network of a prior: its shape according to the tensors, checked against the parameters that the file states.

use std::io::{Read, Seek};

use half::{bf16, f16};

use super::{
    archive::Archive,
    pickle::{Id, PickleNode},
    saved::{MAX_WEIGHTS, PriorError, SavedDictionary},
};
use crate::weights::Tensor;

/// Name of the function that makes a tensor from a storage.
const REBUILD: &str = "torch._utils._rebuild_tensor_v2";
/// Name of the function that makes a parameter from a tensor.
const PARAMETER: &str = "torch._utils._rebuild_parameter";

/// Kind of recurrent cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// GRU, with three gates.
    Gru,
    /// LSTM, with four gates.
    Lstm,
}

/// Shape of a network, from its tensors.
#[derive(Debug)]
pub struct Shape {
    /// Cell of its layers.
    pub cell: CellKind,
    /// Size of a token's embedding.
    pub embedding_size: usize,
    /// Size of a layer's state.
    pub hidden_size: usize,
    /// Number of layers.
    pub num_layers: usize,
}

impl Shape {
    /// Returns the shape of the network in the file.
    pub fn of(saved: &SavedDictionary<'_>) -> Result<Self, PriorError> {
        let network = saved.network()?;
        let shape = |name: &str| {
            let id = network.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
            match saved.view(name, id.ok_or_else(|| tensor(name, "is missing"))?)?.shape[..] {
                [rows, columns] => Ok((rows, columns)),
                ref other => Err(tensor(name, &format!("is {other:?}, wanted two dimensions"))),
            }
        };
        let (_, embedding_size) = shape("_embedding.weight")?;
        let (rows, hidden_size) = shape("_rnn.weight_hh_l0")?;
        let cell = [CellKind::Gru, CellKind::Lstm]
            .into_iter()
            .find(|cell| Some(rows) == hidden_size.checked_mul(cell.gates()));
        let cell = cell.filter(|_| hidden_size > 0).ok_or_else(|| {
            tensor("_rnn.weight_hh_l0", &format!("is [{rows}, {hidden_size}]: neither a GRU nor an LSTM"))
        })?;
        let layers = network.iter().filter(|(name, _)| name.starts_with("_rnn.weight_hh_l"));
        Ok(Self { cell, embedding_size, hidden_size, num_layers: layers.count() })
    }

    /// Reads all tensors, which must be exactly those of the shape.
    pub fn read<R: Read + Seek>(
        &self,
        saved: &SavedDictionary<'_>,
        vocab_size: usize,
        archive: &mut Archive<R>,
    ) -> Result<Vec<Tensor>, PriorError> {
        let network = saved.network()?;
        let wanted = self.tensors(vocab_size);
        if let Some((name, _)) =
            network.iter().find(|(name, _)| !wanted.iter().any(|(known, ..)| known == name))
        {
            return Err(tensor(name, "the architecture has no place for it"));
        }
        let mut tensors = Vec::new();
        let mut weights = 0_usize;
        for (theirs, ours, wanted) in wanted {
            let id = network.iter().rev().find(|(name, _)| *name == theirs).map(|(_, id)| *id);
            let view = saved.view(&theirs, id.ok_or_else(|| tensor(&theirs, "is missing"))?)?;
            if view.shape != wanted {
                return Err(tensor(&theirs, &format!("is {:?}, wanted {wanted:?}", view.shape)));
            }
            weights = weights.saturating_add(view.numbers);
            if weights > MAX_WEIGHTS {
                return Err(PriorError::TooLarge);
            }
            tensors.push(Tensor { name: ours, shape: view.shape.clone(), numbers: view.read(archive)? });
        }
        Ok(tensors)
    }

    /// Returns the names of the tensors, REINVENT's and ours, and their shapes.
    fn tensors(&self, vocab_size: usize) -> Vec<(String, String, Vec<usize>)> {
        let (hidden, rows) = (self.hidden_size, self.cell.gates() * self.hidden_size);
        let mut tensors = vec![
            (
                "_embedding.weight".to_owned(),
                "embedding.weight".to_owned(),
                vec![vocab_size, self.embedding_size],
            ),
            ("_linear.weight".to_owned(), "out.weight".to_owned(), vec![vocab_size, hidden]),
            ("_linear.bias".to_owned(), "out.bias".to_owned(), vec![vocab_size]),
        ];
        for n in 0..self.num_layers {
            let input = if n == 0 { self.embedding_size } else { hidden };
            for (name, shape) in [
                ("weight_ih", vec![rows, input]),
                ("weight_hh", vec![rows, hidden]),
                ("bias_ih", vec![rows]),
                ("bias_hh", vec![rows]),
            ] {
                tensors.push((format!("_rnn.{name}_l{n}"), format!("rnn.{name}_l{n}"), shape));
            }
        }
        tensors
    }

    /// Checks the network against the parameters that the file states.
    pub fn check_parameters(&self, saved: &SavedDictionary<'_>) -> Result<(), PriorError> {
        let Some(parameters) = saved.entry("network_params") else { return Ok(()) };
        let said = |name| saved.pickled.field(parameters, name);
        if let Some(cell) = said("cell_type").and_then(|id| saved.pickled.text(id))
            && !cell.eq_ignore_ascii_case(self.cell.name())
        {
            let seen = format!("the tensors are those of a {}", self.cell.name());
            return Err(PriorError::Parameter { parameter: "cell_type", said: cell.to_owned(), seen });
        }
        for (parameter, seen) in [
            ("num_layers", self.num_layers),
            ("layer_size", self.hidden_size),
            ("embedding_layer_size", self.embedding_size),
        ] {
            if let Some(said) = said(parameter).and_then(|id| saved.pickled.count(id))
                && said != seen
            {
                let seen = format!("the tensors say {seen}");
                return Err(PriorError::Parameter { parameter, said: said.to_string(), seen });
            }
        }
        if let Some(PickleNode::Bool(true)) = said("layer_normalization").map(|id| saved.pickled.node(id)) {
            let seen = "layers are not normalised here".to_owned();
            return Err(PriorError::Parameter {
                parameter: "layer_normalization",
                said: "true".to_owned(),
                seen,
            });
        }
        Ok(())
    }
}

impl CellKind {
    /// Returns the name in `config.json`.
    pub const fn model_type(self) -> &'static str {
        match self {
            Self::Gru => "smiles_gru",
            Self::Lstm => "smiles_lstm",
        }
    }

    /// Returns the name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gru => "GRU",
            Self::Lstm => "LSTM",
        }
    }

    const fn gates(self) -> usize {
        match self {
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }
}

impl SavedDictionary<'_> {
    /// Returns the pickle's description of a tensor.
    fn view(&self, name: &str, id: Id) -> Result<View<'_>, PriorError> {
        let fault = |fault: &str| tensor(name, fault);
        let PickleNode::Object { class, arguments, .. } = self.pickled.node(id) else {
            return Err(fault("is not a tensor"));
        };
        if class == PARAMETER {
            return match self.pickled.items(*arguments).unwrap_or_default().first() {
                // Nested parameters are refused: a malicious file could nest them without end.
                Some(inner) if !matches!(self.pickled.node(*inner), PickleNode::Object { class, .. } if class == PARAMETER) => {
                    self.view(name, *inner)
                }
                _ => Err(fault("is not a tensor")),
            };
        }
        let (REBUILD, [storage, offset, size, stride, ..]) =
            (class.as_str(), self.pickled.items(*arguments).unwrap_or_default())
        else {
            return Err(fault("is not a tensor"));
        };
        let counts = |id: &Id| {
            let items = self.pickled.items(*id)?;
            items.iter().map(|item| self.pickled.count(*item)).collect::<Option<Vec<usize>>>()
        };
        let (Some(offset), Some(shape), Some(stride)) =
            (self.pickled.count(*offset), counts(size), counts(stride))
        else {
            return Err(fault("has no shape"));
        };
        let (number, key, stored) =
            self.storage(*storage).ok_or_else(|| fault("has no storage of floating-point numbers"))?;
        let numbers = shape.iter().try_fold(1_usize, |all, size| all.checked_mul(*size));
        let end = numbers.and_then(|numbers| numbers.checked_add(offset));
        let (Some(numbers), Some(true)) = (numbers, end.map(|end| end <= stored)) else {
            return Err(fault("reaches beyond its storage"));
        };
        let mut expected = 1_usize;
        for (size, stride) in shape.iter().zip(&stride).rev() {
            if *size > 1 && *stride != expected {
                return Err(fault("does not lie row by row; save a contiguous copy"));
            }
            // The product of the sizes overflows only for a tensor without numbers.
            expected = usize::saturating_mul(expected, *size);
        }
        Ok(View { name: name.to_owned(), shape, numbers, offset, number, key, stored })
    }

    /// Returns the number type, the key and the length of a storage.
    fn storage(&self, id: Id) -> Option<(FloatType, &str, usize)> {
        let PickleNode::Persistent(reference) = self.pickled.node(id) else { return None };
        let [kind, class, key, _place, stored, ..] = self.pickled.items(*reference)? else { return None };
        if self.pickled.text(*kind)? != "storage" {
            return None;
        }
        let PickleNode::Name { name, .. } = self.pickled.node(*class) else { return None };
        let number = match name.as_str() {
            "torch.FloatStorage" => FloatType::F32,
            "torch.DoubleStorage" => FloatType::F64,
            "torch.HalfStorage" => FloatType::F16,
            "torch.BFloat16Storage" => FloatType::BF16,
            _ => return None,
        };
        Some((number, self.pickled.text(*key)?, self.pickled.count(*stored)?))
    }
}

/// Floating-point type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FloatType {
    F16,
    BF16,
    F32,
    F64,
}

/// View of a tensor in its storage.
struct View<'a> {
    name: String,
    shape: Vec<usize>,
    numbers: usize,
    /// Number of elements before its first.
    offset: usize,
    number: FloatType,
    key: &'a str,
    /// Number of elements of the whole storage.
    stored: usize,
}

impl View<'_> {
    fn read<R: Read + Seek>(&self, archive: &mut Archive<R>) -> Result<Vec<f32>, PriorError> {
        let size = match self.number {
            FloatType::F16 | FloatType::BF16 => 2,
            FloatType::F32 => 4,
            FloatType::F64 => 8,
        };
        let whole = self.stored.checked_mul(size).filter(|_| self.stored <= MAX_WEIGHTS);
        let whole = whole.ok_or_else(|| tensor(&self.name, "its storage is larger than any"))?;
        let bytes = archive.storage(self.key, whole as u64)?;
        let bytes = &bytes[self.offset * size..(self.offset + self.numbers) * size];
        Ok(match self.number {
            FloatType::F16 => each(bytes, |word| f16::from_le_bytes(word).to_f32()),
            FloatType::BF16 => each(bytes, |word| bf16::from_le_bytes(word).to_f32()),
            FloatType::F32 => each(bytes, f32::from_le_bytes),
            FloatType::F64 => each(bytes, |word| f64::from_le_bytes(word) as f32),
        })
    }
}

/// Converts every `N` bytes to a number.
fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|chunk| number(*chunk)).collect()
}

fn tensor(name: &str, fault: &str) -> PriorError {
    PriorError::Tensor { name: name.to_owned(), fault: fault.to_owned() }
}
