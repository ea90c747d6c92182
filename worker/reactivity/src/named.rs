//! Enums whose variants tables refer to by name.

/// Defines an enum with a list of its variants and their names.
macro_rules! named {
    ($(#[$about:meta])* $vis:vis enum $kind:ident { $($(#[$doc:meta])* $variant:ident,)* }) => {
        $(#[$about])*
        $vis enum $kind { $($(#[$doc])* $variant,)* }

        impl $kind {
            /// All variants, in the order of their numbers.
            $vis const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Variant of this name.
            $vis fn named(name: &str) -> Result<Self, String> {
                match name {
                    $(stringify!($variant) => Ok(Self::$variant),)*
                    name => Err(format!("`{name}` is no {}", stringify!($kind))),
                }
            }
        }
    };
}

pub(crate) use named;

/// Parses the ranks of a row.
pub fn ranks<const N: usize>(fields: [&str; N]) -> Result<[i32; N], String> {
    let mut ranks = [0; N];
    for (rank, field) in ranks.iter_mut().zip(fields) {
        *rank = field.parse().map_err(|_| format!("`{field}` is no rank"))?;
    }
    Ok(ranks)
}
