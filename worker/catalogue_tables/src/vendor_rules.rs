//! Vendors that a search may buy from, as decided by the account's visibility, the request, the organisation and the
//! installation.

use contract::TreeSearchRequest;
use sqlx::PgPool;

/// Vendor rules of a search; vendors are given by their database ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VendorRules {
    /// Private vendors that the account can see.
    pub shown: Vec<i32>,
    /// The only vendors allowed; `None` if all are.
    pub only: Option<Vec<i32>>,
    /// Excluded vendors.
    pub never: Vec<i32>,
    /// Names of the vendors preferred in shopping lists.
    pub first: Vec<String>,
}

impl VendorRules {
    /// Returns true if all public vendors are allowed.
    #[must_use]
    pub fn allow_all_public(&self) -> bool {
        self.only.is_none() && self.never.is_empty()
    }
}

/// Returns the vendor rules for `request` of `account`. A job without an account sees only public vendors.
///
/// # Errors
/// Fails if the database does.
pub async fn terms(
    pool: &PgPool,
    account: Option<&str>,
    request: &TreeSearchRequest,
) -> Result<VendorRules, sqlx::Error> {
    let only = request.vendors_only.as_deref().map(printable);
    sqlx::query_as!(
        VendorRules,
        r#"select shown as "shown!", only_these as only, never_these as "never!", first_these as "first!"
        from vendor_terms($1, $2, $3, $4)"#,
        account.unwrap_or_default(),
        only.as_deref(),
        &printable(&request.vendors_never),
        &printable(&request.vendors_first)
    )
    .fetch_one(pool)
    .await
}

/// Keeps the names that a vendor can have. PostgreSQL text cannot contain NUL, but the API of an earlier release
/// accepted it in requests.
fn printable(names: &[String]) -> Vec<String> {
    names.iter().filter(|name| !name.contains('\0')).cloned().collect()
}
