//! `retort login`.

use clap::Args;

use crate::{
    Place,
    failure::Failure,
    terminal::{self, Confirm, PasswordSource},
};

/// Log in and keep the credentials in the data folder.
#[derive(Debug, Args)]
pub struct Login {
    /// The account [default: the one of the last login here, else asked for].
    email: Option<String>,
    /// Read the password from the first line of standard input instead of asking.
    #[arg(long)]
    password_stdin: bool,
}

impl Login {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let service = place.service()?;
        let email = match self.email {
            Some(email) => email,
            // Damaged credentials are what a login mends.
            None => match place.data().credentials().ok().flatten() {
                Some(credentials) => credentials.email,
                None => terminal::ask("E-mail")?,
            },
        };
        let source =
            if self.password_stdin { PasswordSource::Stdin } else { PasswordSource::Prompt(Confirm::Once) };
        let password = terminal::password(source)?;

        service.login(&email, &password).await?;

        terminal::note(&format!("logged in at {} as {email}", service.base()));
        Ok(())
    }
}
