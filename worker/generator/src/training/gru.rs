//! Loss of a batch and its gradients: GRU layers forwards, then backwards through time.
//!
//! With r, z, n as in PyTorch's `nn.GRU` (see `gates`), and d the gradient of a layer's next state, the gradients
//! before the gates' functions are dn = d (1 - z) (1 - n²), dz = d (h - n) z (1 - z), dr = dn (U_n h + b_n) r (1 -
//! r). The previous state gets d z plus the gradient through the hidden weights. A step is one pass over memory,
//! apart from its two matrix products. The embedding is folded into the first layer's input weights, and so are their
//! gradients.

use candle_core::{CpuStorage, Device, Storage, Tensor};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::{
    batch::{NO_TARGET, TrainingBatch},
    parameters::{Gradients, ParameterId, Parameters},
};
use crate::gates::{exp, sigmoid, tanh, thirds};

/// Numbers per hidden unit that a layer keeps for the backward pass: r, z, n, U_n h + b_n.
const SAVED_PER_UNIT: usize = 4;

/// Results of a layer's forward pass.
struct LayerActivations {
    /// `[step + 1, member, hidden]`; the first step's states are zero.
    states: Vec<f32>,
    /// Layout `[step, member, 4 * hidden]`.
    kept: Vec<f32>,
}

/// Returns the batch's negative log-likelihood, in nats.
pub(super) fn loss(parameters: &Parameters, batch: &TrainingBatch) -> candle_core::Result<f64> {
    let layers = forward(parameters, batch)?;
    let (logits, _) = logits(parameters, &layers)?;
    let mut logits = to_numbers(&logits)?;
    Ok(cross_entropy(&mut logits, batch, parameters.vocab, 0.0))
}

/// Returns that loss and the gradients of `weight` times it.
pub(super) fn gradients(
    parameters: &Parameters,
    batch: &TrainingBatch,
    weight: f32,
) -> candle_core::Result<(f64, Gradients)> {
    let layers = forward(parameters, batch)?;
    let (logits, top) = logits(parameters, &layers)?;
    let mut logits = to_numbers(&logits)?;
    let loss = cross_entropy(&mut logits, batch, parameters.vocab, weight);

    let mut gradients = Gradients::none(parameters);
    gradients.set(ParameterId::OutBias, sums(&logits, parameters.vocab));
    let logits = matrix(logits, parameters.vocab)?;
    gradients.set(ParameterId::Out, to_numbers(&logits.t()?.matmul(&top)?)?);
    let mut up = to_numbers(&logits.matmul(&parameters.tensor(ParameterId::Out)?)?)?;
    for layer in (0..parameters.layers).rev() {
        let below = layer.checked_sub(1).map(|below| &layers[below]);
        up = backward(parameters, batch, layer, (&layers[layer], below), &up, &mut gradients)?;
    }
    Ok((loss, gradients))
}

fn forward(parameters: &Parameters, batch: &TrainingBatch) -> candle_core::Result<Vec<LayerActivations>> {
    let mut layers: Vec<LayerActivations> = Vec::new();
    for layer in 0..parameters.layers {
        // Rows by token, or by step and member.
        let input = match layers.last() {
            None => parameters.tensor(ParameterId::Embedding)?,
            Some(below) => after(&below.states, batch, parameters.hidden)?,
        };
        let bias = parameters.tensor(ParameterId::InputBias(layer))?;
        let input =
            input.matmul(&parameters.tensor(ParameterId::Input(layer))?.t()?)?.broadcast_add(&bias)?;
        layers.push(layer_forward(parameters, batch, layer, &to_numbers(&input)?)?);
    }
    Ok(layers)
}

/// Returns the states after each step, `[step * member, hidden]`.
fn after(states: &[f32], batch: &TrainingBatch, hidden: usize) -> candle_core::Result<Tensor> {
    matrix(states[batch.members * hidden..].to_vec(), hidden)
}

fn layer_forward(
    parameters: &Parameters,
    batch: &TrainingBatch,
    layer: usize,
    input: &[f32],
) -> candle_core::Result<LayerActivations> {
    let (hidden, members) = (parameters.hidden, batch.members);
    let weight = parameters.tensor(ParameterId::Hidden(layer))?.t()?;
    let bias = parameters.numbers(ParameterId::HiddenBias(layer));
    let mut states = vec![0.0; (batch.steps + 1) * members * hidden];
    let mut kept = vec![0.0; batch.steps * members * SAVED_PER_UNIT * hidden];
    let arch = Arch::new();
    for step in 0..batch.steps {
        let (before, next) = states[step * members * hidden..].split_at_mut(members * hidden);
        let product = matrix(before.to_vec(), hidden)?.matmul(&weight)?;
        let product = to_numbers(&product)?;
        let rows = next[..members * hidden]
            .par_chunks_exact_mut(hidden)
            .zip(
                kept[step * members * SAVED_PER_UNIT * hidden..]
                    .par_chunks_exact_mut(SAVED_PER_UNIT * hidden),
            )
            .zip(before.par_chunks_exact(hidden).zip(product.par_chunks_exact(3 * hidden)));
        rows.enumerate().for_each(|(member, ((next, kept), (last, product)))| {
            let place = step * members + member;
            let row = if layer == 0 { batch.inputs[place] as usize } else { place };
            let input = &input[row * 3 * hidden..(row + 1) * 3 * hidden];
            arch.dispatch(ForwardStep { input, product, bias, last, next, kept });
        });
    }
    Ok(LayerActivations { states, kept })
}

/// Forward step of one member.
struct ForwardStep<'a> {
    input: &'a [f32],
    product: &'a [f32],
    bias: &'a [f32],
    last: &'a [f32],
    next: &'a mut [f32],
    kept: &'a mut [f32],
}

impl WithSimd for ForwardStep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let hidden = self.next.len();
        // Slices cut to one length, so that the loop has no bounds checks and is vectorised.
        let [input_r, input_z, input_n] = thirds(self.input, hidden);
        let [product_r, product_z, product_n] = thirds(self.product, hidden);
        let [bias_r, bias_z, bias_n] = thirds(self.bias, hidden);
        let last = &self.last[..hidden];
        let (kept_r, rest) = self.kept.split_at_mut(hidden);
        let (kept_z, rest) = rest.split_at_mut(hidden);
        let (kept_n, kept_h) = rest.split_at_mut(hidden);
        let kept_h = &mut kept_h[..hidden];
        for j in 0..hidden {
            let reset = sigmoid(input_r[j] + product_r[j] + bias_r[j]);
            let update = sigmoid(input_z[j] + product_z[j] + bias_z[j]);
            let inner = product_n[j] + bias_n[j];
            let new = tanh(input_n[j] + reset * inner);
            self.next[j] = new + update * (last[j] - new);
            kept_r[j] = reset;
            kept_z[j] = update;
            kept_n[j] = new;
            kept_h[j] = inner;
        }
    }
}

/// Computes a layer's gradients from those of its states, `up`. Returns the gradients of its input's states.
fn backward(
    parameters: &Parameters,
    batch: &TrainingBatch,
    layer: usize,
    (it, below): (&LayerActivations, Option<&LayerActivations>),
    up: &[f32],
    gradients: &mut Gradients,
) -> candle_core::Result<Vec<f32>> {
    let (hidden, members) = (parameters.hidden, batch.members);
    let weight = parameters.tensor(ParameterId::Hidden(layer))?;
    let mut gates = vec![0.0; batch.steps * members * 3 * hidden];
    // Gradient of gate n's input; `gates` holds that of its hidden part.
    let mut new = vec![0.0; batch.steps * members * hidden];
    let mut carry = vec![0.0; members * hidden];
    let arch = Arch::new();
    for step in (0..batch.steps).rev() {
        let at = |width: usize| step * members * width..(step + 1) * members * width;
        let gates = &mut gates[at(3 * hidden)];
        let rows = carry
            .par_chunks_exact_mut(hidden)
            .zip(gates.par_chunks_exact_mut(3 * hidden))
            .zip(new[at(hidden)].par_chunks_exact_mut(hidden))
            .zip(up[at(hidden)].par_chunks_exact(hidden))
            .zip(it.kept[at(SAVED_PER_UNIT * hidden)].par_chunks_exact(SAVED_PER_UNIT * hidden))
            .zip(it.states[at(hidden)].par_chunks_exact(hidden));
        rows.for_each(|(((((carry, gates), new), up), kept), last)| {
            arch.dispatch(BackwardStep { up, kept, last, carry, gates, new });
        });
        if step > 0 {
            let through = matrix(gates.to_vec(), 3 * hidden)?.matmul(&weight)?;
            for (carry, through) in carry.iter_mut().zip(to_numbers(&through)?) {
                *carry += through;
            }
        }
    }

    gradients.set(ParameterId::HiddenBias(layer), sums(&gates, 3 * hidden));
    let last = matrix(it.states[..batch.steps * members * hidden].to_vec(), hidden)?;
    let hidden_gates = matrix(gates, 3 * hidden)?;
    gradients.set(ParameterId::Hidden(layer), to_numbers(&hidden_gates.t()?.matmul(&last)?)?);
    let mut gates = to_numbers(&hidden_gates)?;
    for (gates, new) in gates.chunks_exact_mut(3 * hidden).zip(new.chunks_exact(hidden)) {
        gates[2 * hidden..].copy_from_slice(new);
    }
    gradients.set(ParameterId::InputBias(layer), sums(&gates, 3 * hidden));
    let input_weight = parameters.tensor(ParameterId::Input(layer))?;
    if let Some(below) = below {
        let gates = matrix(gates, 3 * hidden)?;
        let input = after(&below.states, batch, hidden)?;
        gradients.set(ParameterId::Input(layer), to_numbers(&gates.t()?.matmul(&input)?)?);
        return to_numbers(&gates.matmul(&input_weight)?);
    }
    // Sums the gradients of the gathered rows by token.
    let mut table = vec![0.0; parameters.vocab * 3 * hidden];
    for (gates, token) in gates.chunks_exact(3 * hidden).zip(&batch.inputs) {
        let row = &mut table[*token as usize * 3 * hidden..][..3 * hidden];
        for (sum, gate) in row.iter_mut().zip(gates) {
            *sum += gate;
        }
    }
    let table = matrix(table, 3 * hidden)?;
    let embedding = parameters.tensor(ParameterId::Embedding)?;
    gradients.set(ParameterId::Input(layer), to_numbers(&table.t()?.matmul(&embedding)?)?);
    gradients.set(ParameterId::Embedding, to_numbers(&table.matmul(&input_weight)?)?);
    Ok(Vec::new())
}

/// Backward step of one member.
struct BackwardStep<'a> {
    up: &'a [f32],
    kept: &'a [f32],
    last: &'a [f32],
    /// Gradient of the state, without `up`; replaced by that of the previous state, without the hidden weights' part.
    carry: &'a mut [f32],
    gates: &'a mut [f32],
    new: &'a mut [f32],
}

impl WithSimd for BackwardStep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let hidden = self.carry.len();
        let [kept_r, kept_z, kept_n] = thirds(self.kept, hidden);
        let kept_h = &self.kept[3 * hidden..4 * hidden];
        let (up, last, new) = (&self.up[..hidden], &self.last[..hidden], &mut self.new[..hidden]);
        let (gate_r, rest) = self.gates.split_at_mut(hidden);
        let (gate_z, gate_n) = rest.split_at_mut(hidden);
        let gate_n = &mut gate_n[..hidden];
        let gate_z = &mut gate_z[..hidden];
        for j in 0..hidden {
            let (reset, update, value) = (kept_r[j], kept_z[j], kept_n[j]);
            let down = up[j] + self.carry[j];
            let to_new = down * (1.0 - update) * (1.0 - value * value);
            self.carry[j] = down * update;
            new[j] = to_new;
            gate_r[j] = to_new * kept_h[j] * reset * (1.0 - reset);
            gate_z[j] = down * (last[j] - value) * update * (1.0 - update);
            gate_n[j] = to_new * reset;
        }
    }
}

/// Returns the logits and the states of the top layer, both `[step * member, ..]`.
fn logits(parameters: &Parameters, layers: &[LayerActivations]) -> candle_core::Result<(Tensor, Tensor)> {
    let top = layers.last().expect("pack: a model has a layer");
    let rows = top.kept.len() / (SAVED_PER_UNIT * parameters.hidden);
    let first = top.states.len() - rows * parameters.hidden;
    let top = matrix(top.states[first..].to_vec(), parameters.hidden)?;
    let scores = top.matmul(&parameters.tensor(ParameterId::Out)?.t()?)?;
    Ok((scores.broadcast_add(&parameters.tensor(ParameterId::OutBias)?)?, top))
}

/// Returns the negative log-likelihood of the targets, and replaces the logits by `weight` times their gradients.
fn cross_entropy(logits: &mut [f32], batch: &TrainingBatch, vocab: usize, weight: f32) -> f64 {
    let losses = logits.par_chunks_exact_mut(vocab).zip(&batch.targets).map(|(logits, target)| {
        if *target == NO_TARGET {
            logits.fill(0.0);
            return 0.0;
        }
        let target = *target as usize;
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let aim = logits[target] - largest;
        let mut sum = 0.0;
        for logit in &mut *logits {
            *logit = exp(*logit - largest);
            sum += *logit;
        }
        for logit in &mut *logits {
            *logit *= weight / sum;
        }
        logits[target] -= weight;
        f64::from(sum.ln() - aim)
    });
    losses.sum()
}

/// Returns the sum of all rows of `width` numbers.
fn sums(numbers: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0; width];
    for row in numbers.chunks_exact(width) {
        for (sum, number) in sums.iter_mut().zip(row) {
            *sum += number;
        }
    }
    sums
}

fn matrix(numbers: Vec<f32>, width: usize) -> candle_core::Result<Tensor> {
    let rows = numbers.len() / width;
    Tensor::from_vec(numbers, (rows, width), &Device::Cpu)
}

fn to_numbers(tensor: &Tensor) -> candle_core::Result<Vec<f32>> {
    let (storage, layout) = tensor.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(CpuStorage::F32(numbers)), Some((start, end))) => Ok(numbers[start..end].to_vec()),
        _ => candle_core::bail!("training wants contiguous f32 on the processor"),
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{ParameterId, Parameters, TrainingBatch, gradients, loss};

    fn stage(layers: usize) -> (Parameters, TrainingBatch) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let parameters = Parameters::random(6, 3, 5, layers, &mut || rng.random::<f32>() - 0.5);
        let molecules = [vec![1, 3, 4, 5, 2], vec![1, 5, 2], vec![1, 3, 3, 4, 3, 4, 2]];
        (parameters, TrainingBatch::of(&molecules, &[0, 1, 2]))
    }

    #[test]
    fn gradients_are_what_small_changes_of_the_weights_do() {
        for layers in [1, 2] {
            let (mut parameters, batch) = stage(layers);
            let (_, found) = gradients(&parameters, &batch, 0.5).unwrap();
            let mut places = vec![ParameterId::Embedding, ParameterId::Out, ParameterId::OutBias];
            for layer in 0..layers {
                places.extend([ParameterId::Input(layer), ParameterId::Hidden(layer)]);
                places.extend([ParameterId::InputBias(layer), ParameterId::HiddenBias(layer)]);
            }
            for place in places {
                for n in 0..parameters.numbers(place).len() {
                    let before = parameters.numbers(place)[n];
                    let mut at = |shift: f32| {
                        parameters.numbers_mut(place)[n] = before + shift;
                        loss(&parameters, &batch).unwrap()
                    };
                    let slope = 0.5 * (at(0.01) - at(-0.01)) / 0.02;
                    at(0.0);
                    let gradient = f64::from(found.get(place)[n]);
                    assert!(
                        (slope - gradient).abs() < 2e-3 * (1.0 + slope.abs()),
                        "{place:?} {n}: {slope}, {gradient}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_string_counts_the_same_in_any_batch() {
        let (parameters, _) = stage(2);
        let molecules = [vec![1, 3, 4, 5, 2], vec![1, 5, 2]];

        let together = loss(&parameters, &TrainingBatch::of(&molecules, &[0, 1])).unwrap();
        let alone = [0, 1].map(|n| loss(&parameters, &TrainingBatch::of(&molecules, &[n])).unwrap());

        assert!((together - alone[0] - alone[1]).abs() < 1e-5);
    }
}
