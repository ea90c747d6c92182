//! `retort login`.

use std::process::{Command, Stdio};

use clap::Args;

use crate::{
    InstallationArgs,
    failure::Failure,
    service::Service,
    terminal::{self, Confirm, PasswordSource},
};

/// Log in and store the credentials in the data folder.
///
/// A browser opens and returns here; the password is entered only there.
#[derive(Debug, Args)]
pub struct LoginArgs {
    /// Account to log in to [default: the one of the last login here].
    email: Option<String>,
    /// Show an address and a code for a browser on another machine.
    #[arg(long, conflicts_with_all = ["password", "password_stdin"])]
    no_browser: bool,
    /// Ask for the password on this terminal, for services with `AUTH_PASSWORD_GRANT=on`.
    #[arg(long)]
    password: bool,
    /// Read the password from the first line of standard input, for services with `AUTH_PASSWORD_GRANT=on`.
    #[arg(long, conflicts_with = "password")]
    password_stdin: bool,
}

impl LoginArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let service = installation.service()?;
        // A new login replaces damaged credentials.
        let last = installation.data().credentials().ok().flatten().map(|credentials| credentials.email);
        let known = self.email.or(last).filter(|email| !email.is_empty());
        let email = if self.no_browser {
            service.login_with_device_code(show_code).await?
        } else if self.password || self.password_stdin {
            let source = if self.password_stdin {
                PasswordSource::Stdin
            } else {
                PasswordSource::Prompt(Confirm::Once)
            };
            by_password(&service, known, source).await?
        } else {
            service.login_with_local_browser(known.as_deref(), open_browser).await?
        };
        terminal::note(&format!("logged in at {} as {email}", service.base()));
        Ok(())
    }
}

async fn by_password(
    service: &Service,
    known: Option<String>,
    source: PasswordSource,
) -> Result<String, Failure> {
    let email = match known {
        Some(email) => email,
        None => terminal::prompt("E-mail")?,
    };
    service.login(&email, &terminal::password(source)?).await?;
    Ok(email)
}

fn show_code(address: &str, code: &str) {
    terminal::note(&format!("Open {address}\nand check that it shows the code {code}"));
}

/// Opens a browser. The address is shown too, because an opener can report success without a browser.
fn open_browser(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let opened = Command::new(opener)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let what = if opened.is_ok() { "A browser opens at" } else { "Open in a browser on this machine" };
    terminal::note(&format!("{what}\n{address}\n(for a browser elsewhere: retort login --no-browser)"));
}
