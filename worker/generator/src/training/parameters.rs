//! Weights in training, with Adam's moments.

use candle_core::{Device, Tensor};

use crate::pack::ModelPack;

const DECAYS: (f32, f32) = (0.9, 0.999);
/// Prevents a division by zero.
const EPSILON: f32 = 1e-8;
/// Maximum norm of all gradients together.
const MAX_GRADIENT_NORM: f32 = 1.0;

/// A tensor with its name and shape.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor<'a> {
    /// Name as in a pack's `model.safetensors`; names of moments end in `.first` and `.second`.
    pub name: String,
    /// Size in every dimension.
    pub shape: &'a [usize],
    /// Values, with the last dimension varying fastest.
    pub numbers: &'a [f32],
}

/// All weights, in the order of `ParameterId`.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) vocab: usize,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    list: Vec<Parameter>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    shape: Vec<usize>,
    numbers: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
}

/// Position of a weight in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterId {
    /// Shape `[vocab, embedding]`.
    Embedding,
    /// Shape `[vocab, hidden]`.
    Out,
    /// Shape `[vocab]`.
    OutBias,
    /// Input weight of a layer: `[3 * hidden, input]`.
    Input(usize),
    /// Hidden weight of a layer: `[3 * hidden, hidden]`.
    Hidden(usize),
    /// Input bias of a layer: `[3 * hidden]`.
    InputBias(usize),
    /// Hidden bias of a layer: `[3 * hidden]`.
    HiddenBias(usize),
}

impl ParameterId {
    fn index(self) -> usize {
        match self {
            Self::Embedding => 0,
            Self::Out => 1,
            Self::OutBias => 2,
            Self::Input(layer) => 3 + 4 * layer,
            Self::Hidden(layer) => 4 + 4 * layer,
            Self::InputBias(layer) => 5 + 4 * layer,
            Self::HiddenBias(layer) => 6 + 4 * layer,
        }
    }
}

/// Gradient of each weight, in the order of the weights.
#[derive(Debug)]
pub(super) struct Gradients(Vec<Vec<f32>>);

impl Gradients {
    pub(super) fn none(parameters: &Parameters) -> Self {
        Self(vec![Vec::new(); parameters.list.len()])
    }

    pub(super) fn set(&mut self, id: ParameterId, numbers: Vec<f32>) {
        self.0[id.index()] = numbers;
    }

    #[cfg(test)]
    pub(super) fn get(&self, id: ParameterId) -> &[f32] {
        &self.0[id.index()]
    }
}

impl Parameters {
    pub(super) fn of(pack: &ModelPack) -> candle_core::Result<Self> {
        let named = pack.weights.named().into_iter();
        let list = named.map(|(name, tensor)| Parameter::new(name, tensor)).collect::<Result<_, _>>()?;
        let (vocab, hidden) = (pack.config.vocab_size, pack.config.hidden_size);
        Ok(Self { vocab, hidden, layers: pack.weights.layers.len(), list })
    }

    /// Creates random weights for tests.
    #[cfg(test)]
    pub(super) fn random(
        vocab: usize,
        embedding: usize,
        hidden: usize,
        layers: usize,
        number: &mut impl FnMut() -> f32,
    ) -> Self {
        let mut parameter = |shape: &[usize]| Parameter {
            name: String::new(),
            shape: shape.to_vec(),
            numbers: (0..shape.iter().product()).map(|_| number()).collect(),
            first: Vec::new(),
            second: Vec::new(),
        };
        let mut list = vec![parameter(&[vocab, embedding]), parameter(&[vocab, hidden]), parameter(&[vocab])];
        for layer in 0..layers {
            let input = if layer == 0 { embedding } else { hidden };
            list.extend(
                [&[3 * hidden, input][..], &[3 * hidden, hidden], &[3 * hidden], &[3 * hidden]]
                    .map(&mut parameter),
            );
        }
        Self { vocab, hidden, layers, list }
    }

    pub(super) fn numbers(&self, id: ParameterId) -> &[f32] {
        &self.list[id.index()].numbers
    }

    #[cfg(test)]
    pub(super) fn numbers_mut(&mut self, id: ParameterId) -> &mut [f32] {
        &mut self.list[id.index()].numbers
    }

    pub(super) fn tensor(&self, id: ParameterId) -> candle_core::Result<Tensor> {
        let parameter = &self.list[id.index()];
        Tensor::from_slice(&parameter.numbers, parameter.shape.as_slice(), &Device::Cpu)
    }

    /// Performs a step of Adam; `step` counts from 1.
    pub(super) fn update(&mut self, gradients: Gradients, learning_rate: f32, step: u64) {
        let squares =
            |numbers: &Vec<f32>| numbers.iter().map(|it| f64::from(*it) * f64::from(*it)).sum::<f64>();
        let norm = gradients.0.iter().map(squares).sum::<f64>().sqrt() as f32;
        let cut = if norm > MAX_GRADIENT_NORM { MAX_GRADIENT_NORM / norm } else { 1.0 };
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let warm = (1.0 - DECAYS.0.powi(step), 1.0 - DECAYS.1.powi(step));
        for (parameter, gradient) in self.list.iter_mut().zip(gradients.0) {
            let moments = parameter.first.iter_mut().zip(&mut parameter.second);
            for ((number, (first, second)), change) in parameter.numbers.iter_mut().zip(moments).zip(gradient)
            {
                let change = change * cut;
                *first += (1.0 - DECAYS.0) * (change - *first);
                *second += (1.0 - DECAYS.1) * (change * change - *second);
                *number -= learning_rate * (*first / warm.0) / ((*second / warm.1).sqrt() + EPSILON);
            }
        }
    }

    pub(super) fn weights(&self) -> Vec<NamedTensor<'_>> {
        self.list.iter().map(|it| it.tensor("", &it.numbers)).collect()
    }

    pub(super) fn state(&self) -> Vec<NamedTensor<'_>> {
        let mut state = self.weights();
        for it in &self.list {
            state.push(it.tensor(".first", &it.first));
            state.push(it.tensor(".second", &it.second));
        }
        state
    }

    pub(super) fn restore(&mut self, numbers: impl Fn(&str) -> Option<Vec<f32>>) -> Result<(), String> {
        for it in &mut self.list {
            for (ending, to) in
                [("", &mut it.numbers), (".first", &mut it.first), (".second", &mut it.second)]
            {
                let name = format!("{}{ending}", it.name);
                let from = numbers(&name).ok_or_else(|| format!("no tensor `{name}`"))?;
                if from.len() != to.len() {
                    return Err(format!("tensor `{name}` has {} numbers, wanted {}", from.len(), to.len()));
                }
                *to = from;
            }
        }
        Ok(())
    }
}

impl Parameter {
    fn new(name: String, tensor: &Tensor) -> candle_core::Result<Self> {
        let numbers: Vec<f32> = tensor.flatten_all()?.to_vec1()?;
        let nothing = vec![0.0; numbers.len()];
        Ok(Self { name, shape: tensor.dims().to_vec(), first: nothing.clone(), second: nothing, numbers })
    }

    fn tensor<'a>(&'a self, ending: &str, numbers: &'a [f32]) -> NamedTensor<'a> {
        NamedTensor { name: format!("{}{ending}", self.name), shape: &self.shape, numbers }
    }
}
