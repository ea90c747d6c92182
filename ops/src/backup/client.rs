//! PostgreSQL's own programs: their location, and the way they get the database's address.
//!
//! The address is passed on the command line, which every user of the machine can read. The password is passed in the
//! environment, which only the user can read.

use std::{
    env, fs,
    io::{Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use anyhow::{Context as _, anyhow};
use url::{Url, form_urlencoded};

use crate::failure::Failure;

/// Folder of Debian's PostgreSQL packages, one subfolder per version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Parameters of a database URL that libpq knows, each beside sqlx's name for it.
const PARAMETERS: [(&str, &str); 14] = [
    ("sslmode", "sslmode"),
    ("ssl-mode", "sslmode"),
    ("sslrootcert", "sslrootcert"),
    ("ssl-root-cert", "sslrootcert"),
    ("ssl-ca", "sslrootcert"),
    ("sslcert", "sslcert"),
    ("ssl-cert", "sslcert"),
    ("sslkey", "sslkey"),
    ("ssl-key", "sslkey"),
    ("host", "host"),
    ("port", "port"),
    ("dbname", "dbname"),
    ("user", "user"),
    ("options", "options"),
];

/// PostgreSQL programs for one database.
#[derive(Debug)]
pub struct PgClient {
    folder: PathBuf,
    address: Address,
}

/// Address of a database, with the password separate.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    url: String,
    password: Option<String>,
}

/// A running program, and the file with its standard error.
pub struct PgProcess {
    pub child: Child,
    name: String,
    complaints: fs::File,
}

impl PgClient {
    /// Finds the programs for the database at `url`, whose server has version `server`: in the folder `PG_BIN`,
    /// otherwise Debian's of the server's version, otherwise Debian's newest, otherwise those on the path.
    ///
    /// # Errors
    /// Fails if there are none, or if their version is too old for the server.
    pub fn new(url: &str, server: u32) -> Result<Self, Failure> {
        let folder = match env::var_os("PG_BIN").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => debian_folder(server).unwrap_or_default(),
        };
        let client = Self { folder, address: Address::parse(url)? };
        let version = client.version()?;
        if version < server {
            return Err(Failure::Usage(format!(
                "{} is of PostgreSQL {version}, and the server of {server}: install postgresql-client-{server}, or name the \
                 folder of its programs in PG_BIN",
                client.path("pg_dump").display()
            )));
        }
        Ok(client)
    }

    /// Command for a program with the database's address; it never asks for a password.
    pub fn on_database(&self, program: &str) -> Command {
        let mut command = self.command(program);
        command.args(["--no-password", "--dbname", &self.address.url]);
        if let Some(password) = &self.address.password {
            command.env("PGPASSWORD", password);
        }
        command.env("PGAPPNAME", "retort");
        command
    }

    /// Command for a program that needs no database.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.path(program));
        // Messages that are compared and shown must be English.
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// Major version of `pg_dump`.
    fn version(&self) -> Result<u32, Failure> {
        let path = self.path("pg_dump");
        let missing = || {
            format!(
                "{} cannot be run: install PostgreSQL's client (postgresql-client), or name the folder of its programs in PG_BIN",
                path.display()
            )
        };
        let printed = self.command("pg_dump").arg("--version").output().with_context(missing)?;
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let version =
            printed.split_whitespace().nth(2).map(|version| version.split(['.', 'b', 'd', 'r']).next());
        let version = version.flatten().and_then(|version| version.parse().ok());
        Ok(version
            .ok_or_else(|| anyhow!("{} does not say its version: `{}`", path.display(), printed.trim()))?)
    }
}

/// Debian's folder of programs for `server`'s version, otherwise for the newest.
fn debian_folder(server: u32) -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).ok()?.flatten();
    let versions = versions.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let folder = |version: u32| Path::new(DEBIAN).join(version.to_string()).join("bin");
    let there = versions.filter(|version| folder(*version).join("pg_dump").exists());
    there.max_by_key(|version| (*version == server, *version)).map(folder)
}

impl Address {
    fn parse(text: &str) -> Result<Self, Failure> {
        // The error does not show the address, which may hold a password.
        let mut url = Url::parse(text).context("the database's address cannot be read")?;
        let mut password = url.password().map(decoded);
        if password.is_some() {
            url.set_password(None)
                .map_err(|()| anyhow!("the database's address has a password and no host"))?;
        }
        let mut kept = Vec::new();
        for (name, value) in url.query_pairs() {
            if name == "password" {
                password = Some(value.into_owned());
            } else if let Some((_, known)) = PARAMETERS.iter().find(|(ours, _)| *ours == name) {
                kept.push(format!("{known}={}", encoded(&value)));
            }
        }
        url.set_query((!kept.is_empty()).then(|| kept.join("&")).as_deref());
        Ok(Self { url: url.into(), password })
    }
}

/// Decodes a password in a URL: form decoding, except that `+` and `&` are literal.
fn decoded(text: &str) -> String {
    let text = text.replace('+', "%2B").replace('&', "%26");
    form_urlencoded::parse(text.as_bytes()).map(|(name, value)| [name, value].concat()).collect()
}

/// Encodes a parameter's value for libpq, which takes `+` literally.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

impl PgProcess {
    /// Starts `command` and collects its standard error.
    pub fn start(mut command: Command) -> Result<Self, Failure> {
        let name =
            Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let complaints = tempfile::tempfile().context("making a temporary file")?;
        let written = complaints.try_clone().context("making a temporary file")?;
        let child = command.stderr(written).spawn().with_context(|| format!("starting {name}"))?;
        Ok(Self { child, name, complaints })
    }

    /// Waits for the program to exit; an error quotes its message.
    pub fn end(mut self) -> Result<(), Failure> {
        let status = self.child.wait().with_context(|| format!("waiting for {}", self.name))?;
        if status.success() {
            return Ok(());
        }
        Err(self.complaint(status))
    }

    fn complaint(&mut self, status: ExitStatus) -> Failure {
        let mut text = String::new();
        let _ = self.complaints.rewind().and_then(|()| self.complaints.read_to_string(&mut text));
        // The first error is the cause; later ones follow from it.
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let first = lines.iter().position(|line| line.contains("ERROR:") || line.contains("error:"));
        let words = lines[first.unwrap_or_default()..].iter().take(4).copied().collect::<Vec<_>>().join("; ");
        let printed = anyhow!("{} failed ({status}): {words}", self.name);
        if ["could not connect", "connection to server", "server closed the connection"]
            .iter()
            .any(|sign| words.contains(sign))
        {
            return Failure::Unreachable(printed.to_string());
        }
        printed.into()
    }
}

impl Drop for PgProcess {
    /// Ends the program if its result is no longer awaited.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_no_part_of_what_goes_on_a_command_line() {
        for (text, url, password) in [
            ("postgres://ada@db/retort", "postgres://ada@db/retort", None),
            ("postgres://ada:a%2Fb+c&d@db:5433/retort", "postgres://ada@db:5433/retort", Some("a/b+c&d")),
            (
                "postgres:///retort?host=/run/pg&password=secret",
                "postgres:///retort?host=%2Frun%2Fpg",
                Some("secret"),
            ),
            (
                "postgres://ada@db/retort?ssl-mode=require&statement-cache-capacity=0&options=-c%20a%3Db",
                "postgres://ada@db/retort?sslmode=require&options=-c%20a%3Db",
                None,
            ),
        ] {
            let address = Address::parse(text).unwrap();

            assert_eq!((address.url.as_str(), address.password.as_deref()), (url, password));
        }
    }

    #[test]
    fn an_address_that_cannot_be_read_is_not_shown() {
        let fault = Address::parse("postgres//:secret").unwrap_err().to_string();

        assert!(!fault.contains("secret"), "{fault}");
    }
}
