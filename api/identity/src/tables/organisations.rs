//! Organisations and their members. An account belongs to at most one, which its own row names.

use sqlx::{PgConnection, PgPool};
use ulid::Ulid;

use crate::tables::accounts;

/// Maximum number of members that a page lists.
pub(crate) const MAX_LISTED_MEMBERS: u8 = 100;

/// An organisation in the operator's list.
#[derive(Debug)]
pub struct OrganisationListItem {
    /// Display name.
    pub name: String,
    /// Day of creation.
    pub created: String,
    /// Addresses of its members.
    pub members: Vec<String>,
}

/// An account's address, and the name of its organisation.
#[derive(Debug)]
pub struct Membership {
    /// The address as it was registered.
    pub email: String,
    /// Name of the organisation; `None` if the account has none.
    pub organisation: Option<String>,
}

/// An organisation found by a name that an operator typed.
#[derive(Debug)]
pub struct OrganisationHandle {
    id: String,
    /// Name as first given.
    pub name: String,
}

/// Creates an organisation; returns false if there is one with this name.
///
/// # Errors
/// Fails when the database does, like everything here.
pub async fn add(connection: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    let made = sqlx::query!(
        "insert into organisations (id, name) values ($1, $2) on conflict (lower(name)) do nothing",
        format!("org_{}", Ulid::generate().to_string().to_ascii_lowercase()),
        name
    )
    .execute(connection)
    .await?;
    Ok(made.rows_affected() > 0)
}

/// Lists all organisations, by name.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<OrganisationListItem>, sqlx::Error> {
    sqlx::query_as!(
        OrganisationListItem,
        r#"select name, to_char(created_at, 'YYYY-MM-DD') as "created!",
         array(select email from accounts where organisation_id = organisations.id order by lower(email)) as "members!"
         from organisations order by lower(name)"#
    )
    .fetch_all(connection)
    .await
}

/// Removes the organisation, and returns its name and its members; `None` if there is none.
pub async fn remove(
    connection: &mut PgConnection,
    name: &str,
) -> Result<Option<(String, Vec<String>)>, sqlx::Error> {
    let members = sqlx::query_scalar!(
        "select email from accounts join organisations on organisations.id = organisation_id \
         where lower(organisations.name) = lower($1) order by lower(email)",
        name
    )
    .fetch_all(&mut *connection)
    .await?;
    let removed =
        sqlx::query_scalar!("delete from organisations where lower(name) = lower($1) returning name", name)
            .fetch_optional(connection)
            .await?;
    Ok(removed.map(|name| (name, members)))
}

/// Finds the organisation with this name, and locks it until the transaction ends.
pub async fn named(
    connection: &mut PgConnection,
    name: &str,
) -> Result<Option<OrganisationHandle>, sqlx::Error> {
    sqlx::query_as!(
        OrganisationHandle,
        "select id, name from organisations where lower(name) = lower($1) for share",
        name
    )
    .fetch_optional(connection)
    .await
}

/// Returns the name of the account's organisation, if it has one.
pub(crate) async fn name_of(pool: &PgPool, account_id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select name from organisations where id = (select organisation_id from accounts where id = $1)",
        account_id
    )
    .fetch_optional(pool)
    .await
}

/// Lists the members of the account's organisation, including the account, as `name <address>`, by name; empty if it
/// belongs to none.
pub(crate) async fn other_members(pool: &PgPool, account_id: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select fellow.name || ' <' || fellow.email || '>' as "fellow!"
         from accounts join accounts as fellow on fellow.organisation_id = accounts.organisation_id
         where accounts.id = $1 and fellow.disabled_at is null order by lower(fellow.name), fellow.email limit $2"#,
        account_id,
        i64::from(MAX_LISTED_MEMBERS)
    )
    .fetch_all(pool)
    .await
}

/// Returns the account's membership, and locks it until the transaction ends.
pub async fn membership(
    connection: &mut PgConnection,
    email: &str,
) -> Result<Option<Membership>, sqlx::Error> {
    sqlx::query_as!(
        Membership,
        "select email, (select name from organisations where id = organisation_id) as organisation \
         from accounts where lower(email) = lower($1) for update",
        email
    )
    .fetch_optional(connection)
    .await
}

impl OrganisationHandle {
    /// Returns the organisation's id in the database.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Membership {
    /// Moves the account into the organisation, or out of its present one.
    pub async fn assign_account(
        &self,
        connection: &mut PgConnection,
        organisation: Option<&OrganisationHandle>,
    ) -> Result<(), sqlx::Error> {
        let organisation = organisation.map(|organisation| organisation.id.as_str());
        accounts::put_into(connection, &self.email, organisation).await
    }
}
