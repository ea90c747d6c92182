//! `retort account`: accounts are made and managed by the operator, straight in the database.

use std::{str::FromStr, time::Duration};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use contract::{Ration, scope};

mod manage;
mod tokens;

use crate::{
    Place,
    failure::Failure,
    terminal::{self, Confirm, PasswordSource},
};

/// The shortest password that is taken.
const MIN_PASSWORD_CHARACTERS: usize = 10;

/// The longest one, in bytes; the service checks no longer one.
const MAX_PASSWORD_BYTES: usize = 1024;

/// How long a link is good for that logs an account in.
const LINK_LIFETIME: Duration = Duration::from_secs(600);

/// Bits of a generated password: 26 characters of Crockford's base 32.
type GeneratedPassword = u128;

/// Manage accounts.
#[derive(Debug, Subcommand)]
pub enum Account {
    /// Make an account.
    Add(Add),
    /// List accounts: e-mail address, state, scopes, day of creation, name, organisation.
    List,
    /// End every login and token of an account within a minute, let it get no more, and cancel what it has open.
    Disable {
        /// The account.
        email: String,
    },
    /// Cancel all that an account has open, and say how much of each: plans, batches, samples, requests.
    Cancel {
        /// The account.
        email: String,
    },
    /// Let a disabled account log in again.
    Enable {
        /// The account.
        email: String,
    },
    /// Give an account another password; its logins and tokens end within a minute.
    Password(Password),
    /// Print what tokens of an account may do, or set it; those that there are lose the rest within a minute.
    Scopes {
        /// The account.
        email: String,
        /// What they may do from now on, separated by commas; without it, nothing changes.
        #[arg(value_delimiter = ',', value_name = "SCOPE,…")]
        scopes: Option<Vec<String>>,
        /// Everything but what is for operators.
        #[arg(long, conflicts_with = "scopes")]
        all: bool,
        /// Everything, and what is for operators: to see and change what the installation does.
        #[arg(long, conflicts_with_all = ["scopes", "all"])]
        operator: bool,
    },
    /// Log an account in here without its password, by the database: for scripts, and to see what its owner sees.
    Login {
        /// The account.
        email: String,
    },
    /// Print a link that logs an account in to the console, once, within ten minutes.
    Link {
        /// The account.
        email: String,
    },
    /// Make, list and end an account's tokens for scripts.
    #[command(subcommand)]
    Token(tokens::Tokens),
    /// Set how much of something an account has a minute, or stores; holds within one.
    Ration(SetRation),
}

/// Set how much of something an account has a minute, or stores.
#[derive(Debug, Args)]
pub struct SetRation {
    /// The account.
    email: String,
    /// samples-create, molecules, reads, treesearch, search-seconds; or stored-megabytes, of which it has so many at any time.
    ration: Ration,
    /// A number, 0 for no limit, or `default` for what everybody has.
    per_minute: PerMinute,
}

/// How much a minute; `None` is what everybody has.
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

/// Give an account another password.
#[derive(Debug, Args)]
pub struct Password {
    /// The account.
    email: String,
    #[command(flatten)]
    new: NewPassword,
}

/// Where a new password comes from.
#[derive(Debug, Args)]
struct NewPassword {
    /// Read the password from the first line of standard input instead of asking.
    #[arg(long, conflicts_with = "generate")]
    password_stdin: bool,
    /// Make a password and print it on standard output.
    #[arg(long)]
    generate: bool,
}

/// Make an account.
#[derive(Debug, Args)]
pub struct Add {
    /// The address that the account logs in with.
    email: String,
    /// The person's name; by default the part of the address before its at sign.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    password: NewPassword,
    /// What tokens of the account may do, separated by commas [default: everything but what is for operators].
    #[arg(long, value_delimiter = ',', value_name = "SCOPE,…")]
    scopes: Option<Vec<String>>,
    /// They may do everything, and see and change what the installation does.
    #[arg(long, conflicts_with = "scopes")]
    operator: bool,
}

impl Account {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        if let Self::Add(add) = self {
            return add.run(place).await;
        }
        let mut database = place.data().connect().await?;
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
                let service = place.service()?;
                let email = service
                    .login_by(async |redirect, challenge| {
                        manage::log_in(&mut database, &email, redirect, challenge).await
                    })
                    .await?;
                terminal::note(&format!("logged in at {} as {email}", service.base()));
            }
            Self::Link { email } => {
                let issuer = place.service()?.issuer().await?;
                let secret = manage::link(&mut database, &email, LINK_LIFETIME).await?;
                terminal::data(&format!("{issuer}/link?code={secret}"))?;
                terminal::note("good once, for ten minutes: whoever opens it is logged in");
            }
            Self::Token(tokens) => tokens.run(&mut database).await?,
            Self::Ration(SetRation { email, ration, per_minute: PerMinute(per_minute) }) => {
                manage::change_ration(&mut database, &email, ration, per_minute).await?;
                let amount = per_minute.map_or_else(|| "the default".to_owned(), |number| number.to_string());
                terminal::note(&format!("{email} now has {amount} of {ration} a minute"));
            }
        }
        Ok(())
    }
}

impl Add {
    async fn run(self, place: &Place) -> Result<(), Failure> {
        let email = parse_email(&self.email)?;
        let scopes = if self.operator { everything() } else { parse_scopes(self.scopes.as_deref())? };
        let name = self.name.unwrap_or_else(|| email.split('@').next().unwrap_or_default().to_owned());
        let name = parse_name(&name)?;
        let mut database = place.data().connect().await?;
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

    /// Prints a password that was made here.
    fn show(&self, password: &str) -> Result<(), Failure> {
        if self.generate { terminal::data(password) } else { Ok(()) }
    }
}

fn parse_email(text: &str) -> Result<String, Failure> {
    let email = text.trim();
    let refused = || Failure::Usage(format!("`{email}` is no e-mail address"));
    let (local, domain) = email.rsplit_once('@').ok_or_else(refused)?;
    let printable = email.chars().all(|character| !character.is_whitespace() && !character.is_control());
    if local.is_empty() || domain.is_empty() || !printable || email.len() > 254 {
        return Err(refused());
    }
    Ok(email.to_owned())
}

/// A name that people read: it has to fit on a line.
pub fn parse_name(text: &str) -> Result<String, Failure> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::Usage("a name is not empty, and of one line".into()));
    }
    Ok(name.to_owned())
}

/// The scopes that were named; where none was, all but what is for operators.
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

/// Scopes as people read them: all that are not for operators are `all`.
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
