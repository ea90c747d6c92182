//! The forward pass in bytes.
//!
//! Members of a batch are kept in tiles of eight. A step goes panel by panel: a panel's weights stay
//! in the first cache while every tile has its turn, and its gates follow before the next panel's
//! product, so that sums never leave the caches either.

use candle_core::Tensor;

use super::{
    Block, Kernel, Sums,
    gates::{FACTORS, GatesOfPanel, InputPart, Values},
    kernel::{BLOCK, GROUPS, LANES, ROWS},
    matrix::Matrix,
};
use crate::{pack::ModelPack, weights::LayerWeights};

/// Bytes that stand for 0.
const ZERO: Block = Block([128; BLOCK]);

/// Weights laid out for stepping.
#[derive(Debug)]
pub(crate) struct Network {
    pub(super) kernel: Kernel,
    layers: Vec<Layer>,
    out: Matrix,
    out_bias: Vec<f32>,
    hidden: usize,
}

#[derive(Debug)]
struct Layer {
    input: Input,
    hidden: Matrix,
    /// The hidden bias of gate n, by panel; the other gates' are added to their input biases.
    bias_new: Vec<[f32; LANES]>,
}

#[derive(Debug)]
enum Input {
    /// What each token gives, `[token, panel]`: the embedding folded into the input weights.
    Table(Vec<[[f32; LANES]; GROUPS]>),
    /// What the layer below gives.
    Below { weights: Matrix, bias: Vec<[[f32; LANES]; GROUPS]> },
}

/// The hidden state of a batch, and room to work in.
#[derive(Debug)]
pub(crate) struct State {
    layers: Vec<LayerState>,
    members: usize,
    sums: Vec<Sums>,
    below: Vec<Sums>,
    logits: Vec<f32>,
}

#[derive(Debug)]
struct LayerState {
    /// `[panel, tile]`.
    values: Vec<Values>,
    /// The same in bytes, `[member, block]`.
    bytes: Vec<Block>,
    /// The bytes that a step makes.
    next: Vec<Block>,
}

/// One member's hidden state, layer by layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    values: Vec<f32>,
    bytes: Vec<Block>,
}

impl Network {
    /// Rounds a pack's weights, for `kernel`.
    pub(crate) fn new(pack: &ModelPack, kernel: Kernel) -> candle_core::Result<Self> {
        let (weights, hidden) = (&pack.weights, pack.config.hidden_size);
        let layers = (0..).zip(&weights.layers).map(|(n, layer)| {
            let embedding = (n == 0).then_some(&weights.embedding);
            Layer::new(layer, embedding, hidden)
        });
        let vocab = pack.config.vocab_size;
        let out_row = |panel: usize, group: usize, lane: usize| {
            Some((panel * GROUPS + group) * LANES + lane).filter(|row| *row < vocab)
        };
        let out = numbers(&weights.out_weight)?;
        Ok(Self {
            kernel,
            layers: layers.collect::<candle_core::Result<_>>()?,
            out: Matrix::rounded(&out, hidden, vocab.div_ceil(GROUPS * LANES), out_row),
            out_bias: numbers(&weights.out_bias)?,
            hidden,
        })
    }

    /// The state before the first token.
    pub(crate) fn start(&self, members: usize) -> State {
        let (tiles, panels) = (members.div_ceil(ROWS), self.hidden.div_ceil(LANES));
        let bytes = vec![ZERO; tiles * ROWS * self.hidden.div_ceil(BLOCK)];
        let layer = || LayerState {
            values: vec![[0.0; ROWS * LANES]; panels * tiles],
            bytes: bytes.clone(),
            next: bytes.clone(),
        };
        State {
            layers: self.layers.iter().map(|_| layer()).collect(),
            members,
            sums: vec![[[[0; LANES]; ROWS]; GROUPS]; tiles],
            below: vec![[[[0; LANES]; ROWS]; GROUPS]; tiles],
            logits: vec![0.0; tiles * ROWS * self.out_bias.len()],
        }
    }

    /// Takes one token for every member of the batch and scores the next ones: see [`State::logits`].
    ///
    /// Members marked in `fresh` begin anew: what `state` holds for them is forgotten.
    pub(crate) fn step(&self, tokens: &[u32], fresh: &[bool], state: &mut State) {
        for (member, _) in fresh.iter().enumerate().filter(|(_, fresh)| **fresh) {
            state.forget(member);
        }
        let tiles = state.members.div_ceil(ROWS);
        // The last tile's empty places do as their neighbour does.
        let mut padded = [0; ROWS];
        let whole = tokens.len() / ROWS * ROWS;
        padded[..tokens.len() - whole].copy_from_slice(&tokens[whole..]);
        let tokens: Vec<u32> = tokens[..whole].iter().chain(&padded).copied().take(tiles * ROWS).collect();

        for n in 0..self.layers.len() {
            let (lower, upper) = state.layers.split_at_mut(n);
            let room = (&mut state.sums[..], &mut state.below[..]);
            self.layers[n].step(self.kernel, &tokens, lower.last(), &mut upper[0], room);
        }
        self.score(state);
    }

    /// The largest product of a step.
    pub(super) fn hidden_product(&self) -> &Matrix {
        &self.layers[0].hidden
    }

    fn score(&self, state: &mut State) {
        let vocab = self.out_bias.len();
        let top = state.layers.last().expect("pack: a model has a layer");
        for panel in 0..self.out.panels() {
            self.kernel.multiply(&top.bytes, self.out.panel(panel), &mut state.sums);
            let scales = self.out.scales(panel);
            let first = panel * GROUPS * LANES;
            for (member, logits) in state.logits.chunks_exact_mut(vocab).enumerate() {
                let sums = &state.sums[member / ROWS];
                let groups = logits[first..].chunks_mut(LANES).zip(self.out_bias[first..].chunks(LANES));
                for (group, (logits, bias)) in groups.enumerate().take(GROUPS) {
                    let numbers = sums[group][member % ROWS].iter().zip(&scales[group]).zip(bias);
                    for (logit, ((sum, scale), bias)) in logits.iter_mut().zip(numbers) {
                        *logit = bias + *sum as f32 * scale;
                    }
                }
            }
        }
    }
}

impl Layer {
    fn new(weights: &LayerWeights, embedding: Option<&Tensor>, hidden: usize) -> candle_core::Result<Self> {
        let panels = hidden.div_ceil(LANES);
        let gate_row = |panel: usize, group: usize, lane: usize| {
            let unit = panel * LANES + lane;
            (unit < hidden).then_some(group * hidden + unit)
        };
        let by_panel = |numbers: &[f32], panel: usize| {
            let mut lanes = [[0.0; LANES]; GROUPS];
            for (group, lanes) in lanes.iter_mut().enumerate() {
                for (lane, number) in lanes.iter_mut().enumerate() {
                    *number = gate_row(panel, group, lane).map_or(0.0, |row| numbers[row] * FACTORS[group]);
                }
            }
            lanes
        };
        let bias = numbers(&weights.outer_bias()?)?;
        let input = match embedding {
            Some(embedding) => {
                let table =
                    embedding.matmul(&weights.input_weight.t()?)?.broadcast_add(&weights.outer_bias()?)?;
                let rows = table.to_vec2::<f32>()?;
                let rows = rows.iter().flat_map(|row| (0..panels).map(|panel| by_panel(row, panel)));
                Input::Table(rows.collect())
            }
            None => Input::Below {
                weights: Matrix::rounded(&numbers(&weights.input_weight)?, hidden, panels, gate_row)
                    .times(FACTORS),
                bias: (0..panels).map(|panel| by_panel(&bias, panel)).collect(),
            },
        };
        let hidden_bias = numbers(&weights.hidden_bias)?;
        Ok(Self {
            input,
            hidden: Matrix::rounded(&numbers(&weights.hidden_weight)?, hidden, panels, gate_row)
                .times(FACTORS),
            bias_new: (0..panels).map(|panel| by_panel(&hidden_bias, panel)[2]).collect(),
        })
    }

    fn step(
        &self,
        kernel: Kernel,
        tokens: &[u32],
        lower: Option<&LayerState>,
        state: &mut LayerState,
        (sums, below): (&mut [Sums], &mut [Sums]),
    ) {
        let (tiles, panels) = (sums.len(), self.bias_new.len());
        for panel in 0..panels {
            kernel.multiply(&state.bytes, self.hidden.panel(panel), sums);
            let input = match (&self.input, lower) {
                (Input::Table(rows), _) => InputPart::Table { rows, tokens, panels },
                (Input::Below { weights, bias }, lower) => {
                    let lower = lower.expect("network: only the first layer has no layer below");
                    kernel.multiply(&lower.bytes, weights.panel(panel), below);
                    InputPart::Below { sums: below, scales: weights.scales(panel), bias: &bias[panel] }
                }
            };
            kernel.run(GatesOfPanel {
                sums,
                scales: self.hidden.scales(panel),
                bias_new: &self.bias_new[panel],
                input,
                panel,
                values: &mut state.values[panel * tiles..(panel + 1) * tiles],
                bytes: &mut state.next,
            });
        }
        std::mem::swap(&mut state.bytes, &mut state.next);
    }
}

impl State {
    /// The scores of the last step, `[batch, vocab]`.
    pub(crate) fn logits(&self) -> &[f32] {
        let vocab = self.logits.len() / (self.sums.len() * ROWS).max(1);
        &self.logits[..self.members * vocab]
    }

    /// Takes members, ascending, out of the batch; the last ones move to their places, as
    /// [`Vec::swap_remove`] does from the last of `members` to the first.
    pub(crate) fn swap_remove(&mut self, members: &[usize]) {
        for member in members.iter().rev() {
            self.members -= 1;
            self.copy(self.members, *member);
        }
        let (before, tiles) = (self.sums.len(), self.members.div_ceil(ROWS));
        if before == tiles {
            return;
        }
        for layer in &mut self.layers {
            let tile_blocks = layer.bytes.len() / before;
            layer.bytes.truncate(tiles * tile_blocks);
            layer.next.truncate(tiles * tile_blocks);
            let mut place = 0;
            layer.values.retain(|_| {
                place += 1;
                (place - 1) % before < tiles
            });
        }
        self.sums.truncate(tiles);
        self.below.truncate(tiles);
        self.logits.truncate(self.logits.len() / before * tiles);
    }

    /// Keeps a member's hidden state.
    pub(crate) fn keep(&self, member: usize, kept: &mut Kept) {
        let (tiles, tile, row) = (self.sums.len(), member / ROWS, member % ROWS);
        kept.values.clear();
        kept.bytes.clear();
        for layer in &self.layers {
            let width = layer.bytes.len() / (tiles * ROWS);
            kept.bytes.extend_from_slice(&layer.bytes[member * width..][..width]);
            for panel in layer.values.chunks_exact(tiles) {
                kept.values.extend_from_slice(&panel[tile][row * LANES..][..LANES]);
            }
        }
    }

    /// Gives a member the hidden state that was kept.
    pub(crate) fn restore(&mut self, member: usize, kept: &Kept) {
        let (tiles, tile, row) = (self.sums.len(), member / ROWS, member % ROWS);
        let mut values = kept.values.chunks_exact(LANES);
        let width = kept.bytes.len() / self.layers.len();
        for (layer, bytes) in self.layers.iter_mut().zip(kept.bytes.chunks_exact(width)) {
            layer.bytes[member * width..][..width].copy_from_slice(bytes);
            for (panel, from) in layer.values.chunks_exact_mut(tiles).zip(&mut values) {
                panel[tile][row * LANES..][..LANES].copy_from_slice(from);
            }
        }
    }

    /// The first layer's hidden states in bytes.
    pub(super) fn first_bytes(&self) -> &[Block] {
        &self.layers[0].bytes
    }

    fn copy(&mut self, from: usize, to: usize) {
        let tiles = self.sums.len();
        for layer in &mut self.layers {
            let width = layer.bytes.len() / (tiles * ROWS);
            layer.bytes.copy_within(from * width..(from + 1) * width, to * width);
            for panel in layer.values.chunks_exact_mut(tiles) {
                let values = panel[from / ROWS];
                let values = &values[from % ROWS * LANES..][..LANES];
                panel[to / ROWS][to % ROWS * LANES..][..LANES].copy_from_slice(values);
            }
        }
    }

    fn forget(&mut self, member: usize) {
        let tiles = self.sums.len();
        let (tile, row) = (member / ROWS, member % ROWS);
        for layer in &mut self.layers {
            let width = layer.bytes.len() / (tiles * ROWS);
            layer.bytes[member * width..][..width].fill(ZERO);
            for panel in layer.values.chunks_exact_mut(tiles) {
                panel[tile][row * LANES..][..LANES].fill(0.0);
            }
        }
    }
}

fn numbers(tensor: &Tensor) -> candle_core::Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}
