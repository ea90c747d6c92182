//! Batch of molecules for one step.

/// No target, because the string has ended.
pub(super) const NO_TARGET: u32 = u32::MAX;

/// Tokens of a batch, time first.
#[derive(Debug)]
pub(super) struct TrainingBatch {
    pub(super) steps: usize,
    pub(super) members: usize,
    /// `[step, member]`: input tokens of the network; arbitrary after a string's end.
    pub(super) inputs: Vec<u32>,
    /// `[step, member]`: next tokens, or [`NO_TARGET`].
    pub(super) targets: Vec<u32>,
}

impl TrainingBatch {
    /// Collects the molecules numbered `rows`, each of at least two tokens.
    pub(super) fn of(molecules: &[Vec<u32>], rows: &[usize]) -> Self {
        let steps = rows.iter().map(|row| molecules[*row].len() - 1).max().unwrap_or(0);
        let members = rows.len();
        let (mut inputs, mut targets) = (vec![0; steps * members], vec![NO_TARGET; steps * members]);
        for (member, row) in rows.iter().enumerate() {
            for (step, pair) in molecules[*row].windows(2).enumerate() {
                inputs[step * members + member] = pair[0];
                targets[step * members + member] = pair[1];
            }
        }
        Self { steps, members, inputs, targets }
    }
}
