//! Organisations and who belongs to them: an account belongs to one at most, which its own row says.

use sqlx::{PgConnection, PgPool};
use ulid::Ulid;

use crate::tables::accounts;

/// Members that a page names.
pub(crate) const MOST_FELLOWS: u8 = 100;

/// An organisation as the operator's list shows it.
#[derive(Debug)]
pub struct Listed {
    /// What people call it.
    pub name: String,
    /// The day it was made.
    pub created: String,
    /// The addresses of its members.
    pub members: Vec<String>,
}

/// An account's address, and the name of its organisation.
#[derive(Debug)]
pub struct Member {
    /// The address as it was registered.
    pub email: String,
    /// `None` if it belongs to none.
    pub organisation: Option<String>,
}

/// An organisation by the name that somebody typed.
#[derive(Debug)]
pub struct Named {
    id: String,
    /// The name as it was given first.
    pub name: String,
}

/// Makes an organisation; false if there is one of this name.
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

/// Every organisation, by its name.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<Listed>, sqlx::Error> {
    sqlx::query_as!(
        Listed,
        r#"select name, to_char(created_at, 'YYYY-MM-DD') as "created!",
         array(select email from accounts where organisation_id = organisations.id order by lower(email)) as "members!"
         from organisations order by lower(name)"#
    )
    .fetch_all(connection)
    .await
}

/// Removes the organisation, and returns its name and who belonged to it; `None` if there is none.
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

/// The organisation of this name, which stays until the transaction ends.
pub async fn named(connection: &mut PgConnection, name: &str) -> Result<Option<Named>, sqlx::Error> {
    sqlx::query_as!(Named, "select id, name from organisations where lower(name) = lower($1) for share", name)
        .fetch_optional(connection)
        .await
}

/// The name of the account's organisation, if it has one.
pub(crate) async fn name_of(pool: &PgPool, account_id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select name from organisations where id = (select organisation_id from accounts where id = $1)",
        account_id
    )
    .fetch_optional(pool)
    .await
}

/// Who belongs to the organisation of the account, it included, as `name <address>`, by the name; none if it belongs to none.
pub(crate) async fn fellows(pool: &PgPool, account_id: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select fellow.name || ' <' || fellow.email || '>' as "fellow!"
         from accounts join accounts as fellow on fellow.organisation_id = accounts.organisation_id
         where accounts.id = $1 and fellow.disabled_at is null order by lower(fellow.name), fellow.email limit $2"#,
        account_id,
        i64::from(MOST_FELLOWS)
    )
    .fetch_all(pool)
    .await
}

/// Where the account belongs, which stays so until the transaction ends.
pub async fn membership(connection: &mut PgConnection, email: &str) -> Result<Option<Member>, sqlx::Error> {
    sqlx::query_as!(
        Member,
        "select email, (select name from organisations where id = organisation_id) as organisation \
         from accounts where lower(email) = lower($1) for update",
        email
    )
    .fetch_optional(connection)
    .await
}

impl Named {
    /// What the database calls it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Member {
    /// Puts the account into the organisation, or out of every one.
    pub async fn belongs_to(
        &self,
        connection: &mut PgConnection,
        organisation: Option<&Named>,
    ) -> Result<(), sqlx::Error> {
        let organisation = organisation.map(|organisation| organisation.id.as_str());
        accounts::put_into(connection, &self.email, organisation).await
    }
}
