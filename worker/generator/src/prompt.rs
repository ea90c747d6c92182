//! Beginnings of strings that are given and not drawn.
//!
//! A prompt ends where a substituent follows. Models learn strings that are cut into the longest tokens from the
//! left, so after `CC` the token `C(=O)` hardly ever follows: `CC(=O)` is a token itself. Therefore the last token of
//! the prompt is drawn too, from those that begin with its text.

use crate::{
    engine::SavedState,
    symbol::{Bond, Symbol, symbols},
    vocabulary::Vocabulary,
};

/// Beginning of a string.
#[derive(Debug)]
pub(crate) struct Prompt {
    text: String,
    /// Tokens that are fed before the first drawn one.
    tokens: Vec<u32>,
    /// Token that would complete the text.
    last: u32,
    /// Tokens that may be drawn first: `last`, and those that begin with its text and go on with a substituent.
    first_drawn: Vec<bool>,
    /// Tokens that may follow `last`.
    second_drawn: Vec<bool>,
    /// Network state after all tokens but the last.
    state: Option<SavedState>,
}

impl Prompt {
    /// Encodes the beginning `text`; `None` if the vocabulary cannot express it.
    pub(crate) fn new(text: String, vocabulary: &Vocabulary) -> Option<Self> {
        let mut tokens = encode(&text, vocabulary)?;
        let last = tokens.pop()?;
        let last_text = vocabulary.text(&[last]);
        let states_bond = text.ends_with(['/', '\\', '-']);
        let begins_substituent = |symbols: &[Symbol]| match symbols.first() {
            Some(Symbol::Atom(_)) => true,
            Some(Symbol::Bond(Bond::Single)) => !states_bond,
            _ => false,
        };
        let all = || 0..vocabulary.len() as u32;
        let may_be_first = |token: u32| {
            let text = vocabulary.text(&[token]);
            let more = text.strip_prefix(&last_text).map(symbols);
            token == last || more.is_some_and(|more| begins_substituent(&more))
        };
        Some(Self {
            first_drawn: all().map(may_be_first).collect(),
            second_drawn: all().map(|token| begins_substituent(vocabulary.symbols(token))).collect(),
            text,
            tokens,
            last,
            state: None,
        })
    }

    /// Adds the network's state after all of [`Self::tokens`] but the last.
    pub(crate) fn with_state(self, state: Option<SavedState>) -> Self {
        Self { state, ..self }
    }

    /// Returns the text, which every string with this prompt begins with.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tokens that are fed before the first drawn one.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Returns the network's state after all tokens but the last, if it is known.
    pub(crate) fn state(&self) -> Option<&SavedState> {
        self.state.as_ref()
    }

    /// Returns the tokens that may follow `tokens`, a string that begins with the prompt's; `None` if all may.
    pub(crate) fn allowed_after(&self, tokens: &[u32]) -> Option<&[bool]> {
        match &tokens[self.tokens.len()..] {
            [] => Some(&self.first_drawn),
            [token] if *token == self.last => Some(&self.second_drawn),
            _ => None,
        }
    }
}

/// Encodes the beginning of a string, without special tokens; `None` if the vocabulary cannot express it.
pub(crate) fn encode(text: &str, vocabulary: &Vocabulary) -> Option<Vec<u32>> {
    let mut tokens = vocabulary.encode(text)?;
    tokens.pop();
    tokens.remove(0);
    Some(tokens)
}
