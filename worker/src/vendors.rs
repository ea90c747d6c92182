//! From whom a search may buy: what its account sees, and what the request, the organisation and the installation want.

use contract::TreeSearchRequest;
use sqlx::PgPool;

/// Vendors by their numbers in the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VendorTerms {
    /// Private ones that are seen.
    pub shown: Vec<i32>,
    /// The only ones that count, where not all do.
    pub only: Option<Vec<i32>>,
    /// Those that do not.
    pub never: Vec<i32>,
    /// The names of those that come first in shopping lists.
    pub first: Vec<String>,
}

/// The terms on which `account` searches with `request`; a job that names no account sees what everybody sees.
///
/// # Errors
/// Fails when the database does.
pub async fn terms(
    pool: &PgPool,
    account: Option<&str>,
    request: &TreeSearchRequest,
) -> Result<VendorTerms, sqlx::Error> {
    let only = request.vendors_only.as_deref().map(sayable);
    sqlx::query_as!(
        VendorTerms,
        r#"select shown as "shown!", only_these as only, never_these as "never!", first_these as "first!"
        from vendor_terms($1, $2, $3, $4)"#,
        account.unwrap_or_default(),
        only.as_deref(),
        &sayable(&request.vendors_never),
        &sayable(&request.vendors_first)
    )
    .fetch_one(pool)
    .await
}

/// The names that a vendor may have: PostgreSQL's texts have no NUL, which an API of an earlier release lets a request name.
fn sayable(names: &[String]) -> Vec<String> {
    names.iter().filter(|name| !name.contains('\0')).cloned().collect()
}
