//! The id of a model, which is also the name of its folder.

use std::{fmt, str::FromStr};

/// Maximum length of an id in characters.
const MAX_LENGTH: usize = 64;

/// Model id of letters, digits and underscores: no character with a meaning in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId(String);

/// Reason why a text is no model id.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelIdError {
    /// The text is empty or too long.
    #[error("an id has 1 to {MAX_LENGTH} characters")]
    Length,
    /// A character is not a letter, digit or underscore.
    #[error("`{0}` is not allowed: an id has letters, digits and underscores")]
    Character(char),
}

impl FromStr for ModelId {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<Self, ModelIdError> {
        match text.chars().find(|letter| !(letter.is_ascii_alphanumeric() || *letter == '_')) {
            Some(letter) => Err(ModelIdError::Character(letter)),
            None if !(1..=MAX_LENGTH).contains(&text.len()) => Err(ModelIdError::Length),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl ModelId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_word() {
        for text in ["a", "druglike_gru", "Model7", &"x".repeat(MAX_LENGTH)] {
            assert_eq!(text.parse::<ModelId>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn tricks_with_paths_are_no_ids() {
        for (text, letter) in [
            ("../up", '.'),
            ("a/b", '/'),
            (".hidden", '.'),
            ("a b", ' '),
            ("nul\0", '\0'),
            ("é", 'é'),
            ("a\\b", '\\'),
        ] {
            assert_eq!(text.parse::<ModelId>(), Err(ModelIdError::Character(letter)));
        }
        assert_eq!("".parse::<ModelId>(), Err(ModelIdError::Length));
        assert_eq!("x".repeat(MAX_LENGTH + 1).parse::<ModelId>(), Err(ModelIdError::Length));
    }
}
