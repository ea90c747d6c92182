//! `retort account`: accounts that the operator creates and manages directly in the database.

use std::{str::FromStr, time::Duration};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use contract::{QuotaKind, scope};

mod manage;
mod tokens;

use crate::{
    InstallationArgs,
    failure::Failure,
    terminal::{self, Confirm, PasswordSource},
};

/// Minimum length of a password.
const MIN_PASSWORD_CHARACTERS: usize = 10;

/// Maximum length, in bytes; the service checks no longer password.
const MAX_PASSWORD_BYTES: usize = 1024;

/// Lifetime of a login link.
const LINK_LIFETIME: Duration = Duration::from_secs(600);

/// Bits of a generated password, which is 26 characters of Crockford's base 32.
type GeneratedPassword = u128;

/// Manage accounts.
#[derive(Debug, Subcommand)]
pub enum AccountArgs {
    /// Create an account.
    Add(AddAccountArgs),
    /// List accounts: e-mail address, state, scopes, day of creation, name, organisation.
    List,
    /// Disable an account: end its logins and tokens within a minute, issue no new ones, and cancel its open work.
    Disable {
        /// The account.
        email: String,
    },
    /// Cancel all open work of an account and print the counts: plans, batches, samples, requests.
    Cancel {
        /// The account.
        email: String,
    },
    /// Let a disabled account log in again.
    Enable {
        /// The account.
        email: String,
    },
    /// Set a new password for an account; its logins and tokens end within a minute.
    Password(Password),
    /// Print or set the scopes of an account's tokens; existing tokens lose the other scopes within a minute.
    Scopes {
        /// The account.
        email: String,
        /// New scopes, separated by commas; without this, nothing changes.
        #[arg(value_delimiter = ',', value_name = "SCOPE,…")]
        scopes: Option<Vec<String>>,
        /// All scopes except those of operators.
        #[arg(long, conflicts_with = "scopes")]
        all: bool,
        /// All scopes, including those of operators: to see and change what the installation does.
        #[arg(long, conflicts_with_all = ["scopes", "all"])]
        operator: bool,
    },
    /// Log in to an account here without its password, through the database: for scripts, and to see what its owner
    /// sees.
    Login {
        /// The account.
        email: String,
    },
    /// Print a link that logs an account in to the console once, within ten minutes.
    Link {
        /// The account.
        email: String,
    },
    /// Create, list and end an account's tokens for scripts.
    #[command(subcommand)]
    Token(tokens::Tokens),
    /// Set a rate limit (per minute) or a storage quota of an account; takes effect within a minute.
    Ration(SetLimit),
}

/// Set a rate limit (per minute) or a storage quota of an account.
#[derive(Debug, Args)]
pub struct SetLimit {
    /// The account.
    email: String,
    /// Limit to set: samples-create, molecules, reads, treesearch or search-seconds (per minute), or stored-megabytes
    /// (a total).
    ration: QuotaKind,
    /// A number, 0 for no limit, or `default` for the default limit.
    per_minute: PerMinute,
}

/// Limit per minute; `None` is the default limit.
#[derive(Debug, Clone, Copy)]
struct PerMinute(Option<i32>);

impl FromStr for PerMinute {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "default" {
            return Ok(Self(None));
        }
        let number = text.parse().ok().filter(|number| *number >= 0);
        number.map(|number| Self(Some(number))).ok_or("want a number from 0, or `default`")
    }
}

/// Set a new password for an account.
#[derive(Debug, Args)]
pub struct Password {
    /// The account.
    email: String,
    #[command(flatten)]
    new: NewPassword,
}

/// Source of a new password.
#[derive(Debug, Args)]
struct NewPassword {
    /// Read the password from the first line of standard input instead of asking.
    #[arg(long, conflicts_with = "generate")]
    password_stdin: bool,
    /// Generate a password and print it on standard output.
    #[arg(long)]
    generate: bool,
}

/// Create an account.
#[derive(Debug, Args)]
pub struct AddAccountArgs {
    /// The address that the account logs in with.
    email: String,
    /// Name of the person; by default the part of the address before the at sign.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    password: NewPassword,
    /// Scopes of the account's tokens, separated by commas [default: all except those of operators].
    #[arg(long, value_delimiter = ',', value_name = "SCOPE,…")]
    scopes: Option<Vec<String>>,
    /// All scopes, including those of operators: to see and change what the installation does.
    #[arg(long, conflicts_with = "scopes")]
    operator: bool,
}

impl AccountArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        if let Self::Add(add) = self {
            return add.run(installation).await;
        }
        let mut database = installation.data().connect().await?;
        match self {
            Self::Add(_) => {}
            Self::List => {
                let rows = manage::list(&mut database).await?;
                rows.iter().try_for_each(|row| terminal::data(&manage::to_line(row)))?;
            }
            Self::Disable { email } => {
                let cancelled = manage::disable(&mut database, &email).await?;
                terminal::note(&format!("disabled {email}; its tokens and streams end within a minute"));
                terminal::note(&manage::in_words(cancelled));
            }
            Self::Cancel { email } => {
                let cancelled = manage::cancel(&mut database, &email).await?;
                terminal::note(&manage::in_words(cancelled));
            }
            Self::Enable { email } => {
                manage::enable(&mut database, &email).await?;
                terminal::note(&format!("enabled {email}"));
            }
            Self::Password(Password { email, new }) => {
                manage::exists(&mut database, &email).await?;
                let password = new.read()?;
                manage::change_password(&mut database, &email, &hash_password(&password)?).await?;
                new.show(&password)?;
                terminal::note(&format!("changed the password of {email}; its tokens end within a minute"));
            }
            Self::Scopes { email, scopes: None, all: false, operator: false } => {
                manage::scopes(&mut database, &email)
                    .await?
                    .iter()
                    .try_for_each(|scope| terminal::data(scope))?;
            }
            Self::Scopes { email, scopes, operator, all: _ } => {
                let scopes = if operator { everything() } else { parse_scopes(scopes.as_deref())? };
                manage::change_scopes(&mut database, &email, &scopes).await?;
                terminal::note(&format!("{email} may now do: {}", scopes.join(", ")));
            }
            Self::Login { email } => {
                let service = installation.service()?;
                let email = service
                    .login_with_code(async |redirect, challenge| {
                        manage::log_in(&mut database, &email, redirect, challenge).await
                    })
                    .await?;
                terminal::note(&format!("logged in at {} as {email}", service.base()));
            }
            Self::Link { email } => {
                let issuer = installation.service()?.issuer().await?;
                let secret = manage::link(&mut database, &email, LINK_LIFETIME).await?;
                terminal::data(&format!("{issuer}/link?code={secret}"))?;
                terminal::note("valid once, for ten minutes: the person who opens it is logged in");
            }
            Self::Token(tokens) => tokens.run(&mut database).await?,
            Self::Ration(SetLimit { email, ration, per_minute: PerMinute(per_minute) }) => {
                manage::change_limit(&mut database, &email, ration, per_minute).await?;
                let amount = per_minute.map_or_else(|| "the default".to_owned(), |number| number.to_string());
                terminal::note(&format!("{email} now has the limit {amount} for {ration}"));
            }
        }
        Ok(())
    }
}

impl AddAccountArgs {
    async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let email = parse_email(&self.email)?;
        let scopes = if self.operator { everything() } else { parse_scopes(self.scopes.as_deref())? };
        let name = self.name.unwrap_or_else(|| email.split('@').next().unwrap_or_default().to_owned());
        let name = parse_name(&name)?;
        let mut database = installation.data().connect().await?;
        let password = self.password.read()?;
        let hash = hash_password(&password)?;

        manage::add(&mut database, &email, &name, &hash, &scopes).await?;

        self.password.show(&password)?;
        terminal::note(&format!("made the account {email}"));
        Ok(())
    }
}

impl NewPassword {
    fn read(&self) -> Result<String, Failure> {
        let password = if self.generate {
            generate_password()
        } else if self.password_stdin {
            terminal::password(PasswordSource::Stdin)?
        } else {
            terminal::password(PasswordSource::Prompt(Confirm::Twice))?
        };
        if password.chars().count() < MIN_PASSWORD_CHARACTERS {
            return Err(Failure::Usage(format!(
                "a password has at least {MIN_PASSWORD_CHARACTERS} characters"
            )));
        }
        if password.len() > MAX_PASSWORD_BYTES {
            return Err(Failure::Usage(format!("a password has at most {MAX_PASSWORD_BYTES} bytes")));
        }
        Ok(password)
    }

    /// Prints a generated password.
    fn show(&self, password: &str) -> Result<(), Failure> {
        if self.generate { terminal::data(password) } else { Ok(()) }
    }
}

fn parse_email(text: &str) -> Result<String, Failure> {
    let email = text.trim();
    let refused = || Failure::Usage(format!("`{email}` is not an e-mail address"));
    let (local, domain) = email.rsplit_once('@').ok_or_else(refused)?;
    let printable = email.chars().all(|character| !character.is_whitespace() && !character.is_control());
    if local.is_empty() || domain.is_empty() || !printable || email.len() > 254 {
        return Err(refused());
    }
    Ok(email.to_owned())
}

/// Parses a display name, which has to fit on a line.
pub fn parse_name(text: &str) -> Result<String, Failure> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::Usage("a name must be one line and must not be empty".into()));
    }
    Ok(name.to_owned())
}

/// Parses the given scopes; without any, all except those of operators.
pub fn parse_scopes(given: Option<&[String]>) -> Result<Vec<String>, Failure> {
    let known = scope::ALL.map(|(scope, _)| scope);
    let Some(given) = given else { return Ok(scope::ordinary().map(ToOwned::to_owned).collect()) };
    if let Some(unknown) = given.iter().find(|scope| !known.contains(&scope.as_str())) {
        return Err(Failure::Usage(format!("there is no scope `{unknown}`; there are {}", known.join(", "))));
    }
    Ok(given.to_vec())
}

fn everything() -> Vec<String> {
    scope::ALL.iter().map(|(scope, _)| (*scope).to_owned()).collect()
}

/// Formats scopes for display: `all` stands for all except those of operators.
pub fn show_scopes(scopes: &[String]) -> String {
    if !scope::ordinary().all(|scope| scopes.iter().any(|held| held == scope)) {
        return scopes.join(",");
    }
    let is_operator = scopes.iter().any(|scope| scope == scope::OPERATIONS);
    if is_operator { format!("all,{}", scope::OPERATIONS) } else { "all".to_owned() }
}

fn generate_password() -> String {
    ulid::Ulid::from(rand::random::<GeneratedPassword>()).to_string().to_ascii_lowercase()
}

fn hash_password(password: &str) -> Result<String, Failure> {
    identity::hash_password(password).map_err(|error| anyhow!("hashing the password: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_scopes_that_make_no_sense_are_wrong_usage() {
        for text in ["", "demo", "@example.org", "demo@", "de mo@example.org"] {
            assert!(matches!(parse_email(text), Err(Failure::Usage(_))), "{text}");
        }
        assert!(matches!(parse_scopes(Some(&["samples".to_owned()])), Err(Failure::Usage(_))));
        for text in ["", " ", "two\nlines", "tab\tbed"] {
            assert!(matches!(parse_name(text), Err(Failure::Usage(_))), "{text}");
        }
    }

    #[test]
    fn what_is_for_operators_is_given_by_its_name_alone() {
        let ordinary = parse_scopes(None).unwrap();

        assert!(!ordinary.iter().any(|scope| scope == scope::OPERATIONS));
        assert_eq!(
            (show_scopes(&ordinary), show_scopes(&everything())),
            ("all".into(), "all,operations".into())
        );
    }

    #[test]
    fn generated_passwords_are_long_and_differ() {
        let (one, other) = (generate_password(), generate_password());

        assert_eq!(one.len(), 26);
        assert_ne!(one, other);
    }
}
