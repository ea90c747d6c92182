//! Matching of the contract's pattern `^\w+$`.

/// Returns true if `text` matches `^\w+$` as JSON Schema reads it (ECMA-262: ASCII letters, digits, `_`).
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
