//! The forward pass in bytes.
//!
//! Members of a batch are kept in tiles of 32. A step processes one strip (32 units of all gates) after the other.
//! The weights of a gate stay in the L1 cache while all tiles are multiplied. The gates are computed before the next
//! strip's products, so the sums stay in the caches too.

use candle_core::Tensor;

use super::{
    gates::{self, CellValues, Gates, InputPart, Scores},
    kernel::{BLOCK, Block, Kernel, ROWS, ReadyKernel, Sums, WIDTH},
    matrix::{Matrix, OutputRow},
    table::Table,
};
use crate::{config::Cell, pack::ModelPack, weights::LayerWeights};

/// A block of bytes that stand for 0.
const ZERO: Block = Block([128; BLOCK]);

/// Weights arranged for stepping.
#[derive(Debug)]
pub(crate) struct Network {
    pub(super) kernel: Kernel,
    pub(super) cell: Cell,
    layers: Vec<Layer>,
    out: Matrix,
    vocab: usize,
    hidden: usize,
}

#[derive(Debug)]
struct Layer {
    input: Input,
    /// Layout `[strip, gate]`.
    hidden: Matrix,
}

#[derive(Debug)]
enum Input {
    /// Input of each token: the embedding folded into the input weights.
    Table(Table),
    /// Weights of the input from the layer below, `[strip, gate]`.
    Below(Matrix),
}

/// Hidden state of a batch, and buffers.
#[derive(Debug)]
pub(crate) struct State {
    layers: Vec<LayerState>,
    members: usize,
    tiles: usize,
    /// Layout `[gate, tile]`.
    sums: Vec<Sums>,
    below: Vec<Sums>,
    logits: Vec<f32>,
}

#[derive(Debug)]
struct LayerState {
    /// Cell values in single precision, `[strip, tile]`.
    values: Vec<CellValues>,
    /// Hidden state in bytes, `[tile, block, member]`.
    bytes: Vec<Block>,
    /// Hidden state written by the current step.
    next: Vec<Block>,
}

/// Saved hidden state of one member, layer by layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct SavedMemberState {
    values: Vec<[f32; WIDTH]>,
    bytes: Vec<Block>,
}

impl Network {
    /// Rounds a pack's weights for `kernel`.
    pub(crate) fn new(pack: &ModelPack, kernel: Kernel) -> candle_core::Result<Self> {
        let (weights, hidden, cell) = (&pack.weights, pack.config.hidden_size, pack.config.cell());
        let layers = (0..).zip(&weights.layers).map(|(n, layer)| {
            let embedding = (n == 0).then_some(&weights.embedding);
            Layer::new(cell, layer, embedding, hidden)
        });
        let vocab = pack.config.vocab_size;
        let bias = numbers(&weights.out_bias)?;
        let out = |panel: usize, lane: usize| {
            let row = panel * WIDTH + lane;
            (row < vocab).then(|| OutputRow { row, factor: 1.0, bias: bias[row] })
        };
        Ok(Self {
            kernel,
            cell,
            layers: layers.collect::<candle_core::Result<_>>()?,
            out: Matrix::rounded(&numbers(&weights.out_weight)?, hidden, vocab.div_ceil(WIDTH), out),
            vocab,
            hidden,
        })
    }

    /// Returns the state before the first token.
    pub(crate) fn start(&self, members: usize) -> State {
        let (tiles, strips) = (members.div_ceil(ROWS), self.hidden.div_ceil(WIDTH));
        let bytes = vec![ZERO; tiles * self.hidden.div_ceil(BLOCK) * ROWS];
        let layer = || LayerState {
            values: vec![[[0.0; WIDTH]; ROWS]; strips * tiles],
            bytes: bytes.clone(),
            next: bytes.clone(),
        };
        let sums = vec![Sums([[0; WIDTH]; ROWS]); tiles * self.cell.gates().max(self.out.panels())];
        State {
            layers: self.layers.iter().map(|_| layer()).collect(),
            members,
            tiles,
            below: sums.clone(),
            sums,
            logits: vec![0.0; tiles * ROWS * self.vocab],
        }
    }

    /// Feeds one token for every member of the batch and computes the scores of the next tokens: see
    /// [`State::logits`].
    ///
    /// Members marked in `fresh` restart: their part of `state` is reset.
    pub(crate) fn step(&self, tokens: &[u32], fresh: &[bool], state: &mut State) {
        for (member, _) in fresh.iter().enumerate().filter(|(_, fresh)| **fresh) {
            state.forget(member);
        }
        // Unused members of the last tile may have any token.
        let mut padded = tokens.to_vec();
        padded.resize(state.tiles * ROWS, 0);
        let kernel = self.kernel.ready();
        for n in 0..self.layers.len() {
            let (lower, upper) = state.layers.split_at_mut(n);
            let room = (&mut state.sums[..], &mut state.below[..]);
            self.layers[n].step((&kernel, self.cell), &padded, lower.last(), &mut upper[0], room);
        }
        self.score(&kernel, state);
    }

    /// Returns the matrix of the largest product of a step.
    pub(super) fn hidden_product(&self) -> &Matrix {
        &self.layers[0].hidden
    }

    fn score(&self, kernel: &ReadyKernel, state: &mut State) {
        let top = state.layers.last().expect("pack: a model has a layer");
        let panels = self.out.panels();
        self.out.multiply(kernel, &top.bytes, 0, panels, &mut state.sums[..panels * state.tiles]);
        kernel.run(Scores {
            sums: &state.sums[..panels * state.tiles],
            readings: self.out.readings(0, panels),
            logits: &mut state.logits,
            vocab: self.vocab,
        });
    }
}

impl Layer {
    fn new(
        cell: Cell,
        weights: &LayerWeights,
        embedding: Option<&Tensor>,
        hidden: usize,
    ) -> candle_core::Result<Self> {
        let panels = hidden.div_ceil(WIDTH) * cell.gates();
        let outer_bias = weights.outer_bias()?;
        // Hidden bias that is not part of the input: that of a GRU's gate n.
        let inner_bias = ((&weights.input_bias + &weights.hidden_bias)? - &outer_bias)?;
        let outer = outputs(cell, hidden, &outer_bias)?;
        let input = match embedding {
            Some(embedding) => {
                let table = embedding.matmul(&weights.input_weight.t()?)?;
                Input::Table(Table::rounded(&table.to_vec2()?, panels, outer))
            }
            None => Input::Below(Matrix::rounded(&numbers(&weights.input_weight)?, hidden, panels, outer)),
        };
        let inner = outputs(cell, hidden, &inner_bias)?;
        let hidden = Matrix::rounded(&numbers(&weights.hidden_weight)?, hidden, panels, inner);
        Ok(Self { input, hidden })
    }

    fn step(
        &self,
        (kernel, cell): (&ReadyKernel, Cell),
        tokens: &[u32],
        lower: Option<&LayerState>,
        state: &mut LayerState,
        (sums, below): (&mut [Sums], &mut [Sums]),
    ) {
        let gates = cell.gates();
        let strips = self.hidden.panels() / gates;
        let tiles = state.values.len() / strips;
        let (sums, below) = (&mut sums[..gates * tiles], &mut below[..gates * tiles]);
        for strip in 0..strips {
            self.hidden.multiply(kernel, &state.bytes, strip * gates, gates, sums);
            let input = match (&self.input, lower) {
                (Input::Table(table), _) => {
                    let readings = table.readings(strip * gates, gates);
                    InputPart::Table { rows: table.rows(), tokens, strips, readings }
                }
                (Input::Below(weights), lower) => {
                    let lower = lower.expect("network: only the first layer has no layer below");
                    weights.multiply(kernel, &lower.bytes, strip * gates, gates, below);
                    InputPart::Below { sums: below, readings: weights.readings(strip * gates, gates) }
                }
            };
            kernel.run(Gates {
                cell,
                sums,
                readings: self.hidden.readings(strip * gates, gates),
                input,
                strip,
                values: &mut state.values[strip * tiles..(strip + 1) * tiles],
                bytes: &mut state.next,
            });
        }
        std::mem::swap(&mut state.bytes, &mut state.next);
    }
}

impl State {
    /// Returns the scores of the last step, `[batch, vocab]`.
    pub(crate) fn logits(&self) -> &[f32] {
        let vocab = self.logits.len() / (self.tiles * ROWS).max(1);
        &self.logits[..self.members * vocab]
    }

    /// Removes members, given in ascending order, from the batch. The last ones move to their positions, as
    /// [`Vec::swap_remove`] does from the last of `members` to the first.
    pub(crate) fn swap_remove(&mut self, members: &[usize]) {
        for member in members.iter().rev() {
            self.members -= 1;
            if *member < self.members {
                let (from, to) = (self.members, *member);
                for layer in &mut self.layers {
                    layer.copy(self.tiles, from, to);
                }
            }
        }
        let (before, tiles) = (self.tiles, self.members.div_ceil(ROWS));
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
        self.tiles = tiles;
        self.logits.truncate(self.logits.len() / before * tiles);
    }

    /// Saves a member's hidden state.
    pub(crate) fn keep(&self, member: usize, kept: &mut SavedMemberState) {
        kept.values.clear();
        kept.bytes.clear();
        for layer in &self.layers {
            kept.values.extend(
                layer.values.chunks_exact(self.tiles).map(|strip| strip[member / ROWS][member % ROWS]),
            );
            kept.bytes.extend(layer.blocks(self.tiles, member).map(|n| layer.bytes[n]));
        }
    }

    /// Restores a member's saved hidden state.
    pub(crate) fn restore(&mut self, member: usize, kept: &SavedMemberState) {
        let (mut values, mut bytes) = (kept.values.iter(), kept.bytes.iter());
        for layer in &mut self.layers {
            for (strip, value) in layer.values.chunks_exact_mut(self.tiles).zip(&mut values) {
                strip[member / ROWS][member % ROWS] = *value;
            }
            for (n, block) in layer.blocks(self.tiles, member).zip(&mut bytes) {
                layer.bytes[n] = *block;
            }
        }
    }

    /// Returns the first layer's hidden states in bytes.
    pub(super) fn first_bytes(&self) -> &[Block] {
        &self.layers[0].bytes
    }

    fn forget(&mut self, member: usize) {
        for layer in &mut self.layers {
            for strip in layer.values.chunks_exact_mut(self.tiles) {
                strip[member / ROWS][member % ROWS] = [0.0; WIDTH];
            }
            for n in layer.blocks(self.tiles, member) {
                layer.bytes[n] = ZERO;
            }
        }
    }
}

impl LayerState {
    /// Returns the indices of a member's blocks.
    fn blocks(&self, tiles: usize, member: usize) -> impl Iterator<Item = usize> + use<> {
        let blocks = self.bytes.len() / (tiles * ROWS);
        let first = member / ROWS * blocks * ROWS + member % ROWS;
        (0..blocks).map(move |block| first + block * ROWS)
    }

    fn copy(&mut self, tiles: usize, from: usize, to: usize) {
        for strip in self.values.chunks_exact_mut(tiles) {
            strip[to / ROWS][to % ROWS] = strip[from / ROWS][from % ROWS];
        }
        for (to, from) in self.blocks(tiles, to).zip(self.blocks(tiles, from)) {
            self.bytes[to] = self.bytes[from];
        }
    }
}

/// Returns the description of a layer's outputs, in panels `[strip, gate]`, from their biases, `[gate, unit]`.
fn outputs(
    cell: Cell,
    hidden: usize,
    bias: &Tensor,
) -> candle_core::Result<impl Fn(usize, usize) -> Option<OutputRow>> {
    let (gates, bias) = (cell.gates(), numbers(bias)?);
    Ok(move |panel: usize, lane: usize| {
        let (unit, gate) = (panel / gates * WIDTH + lane, panel % gates);
        let (row, factor) = (gate * hidden + unit, gates::factor(cell, gate));
        (unit < hidden).then(|| OutputRow { row, factor, bias: bias[row] * factor })
    })
}

fn numbers(tensor: &Tensor) -> candle_core::Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}
