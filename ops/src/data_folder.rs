//! The installation's data folder: the addresses of its database and service, and the login.
//!
//! `ops/up` writes the files. This module reads them, and maintains `credentials.json`. A secret file is created with
//! mode 0600 under another name and moved into place, so no reader ever sees it half written or readable by others.
//!
//! The login is a file and not in the desktop's keyring. `retort` runs on servers and in scripts, where the keyring
//! is missing or locked, and keyring support costs 37 crates (keyring 4.2 over D-Bus). A stolen file becomes useless
//! at logout, at a password change, or when it is reused, because refresh tokens work once.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    time::Duration,
};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use database::ConnectionLimits;
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, PgConnection};

use crate::failure::Failure;

/// Name of an installation's data folder.
const FOLDER_NAME: &str = ".retort";

/// Models folder of a checkout, for installations without a data folder.
const DEFAULT_MODELS: &str = "worker/models";

/// Default address of the service.
const DEFAULT_API: &str = "http://127.0.0.1:8080";

/// Connection settings without timeouts: an operator's action takes as long as it takes, and can be interrupted.
const CONNECTION_SETTINGS: ConnectionLimits =
    ConnectionLimits { process: "retort", statement: None, idle_transaction: None };

/// Timeout for connecting to the database.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A data folder, which may not exist yet.
#[derive(Debug, Clone)]
pub struct DataFolder {
    path: PathBuf,
}

/// Credentials of a login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// Address of the service that issued the tokens.
    pub api: String,
    /// E-mail address of the account.
    pub email: String,
    /// The bearer token.
    pub access_token: String,
    /// Refresh token, which buys the next access token once.
    pub refresh_token: Option<String>,
    /// Expiry time of the access token.
    pub expires_at: DateTime<Utc>,
}

impl DataFolder {
    /// The folder at `path`.
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the `.retort` folder here or in the nearest parent that has one, as git does; otherwise the path of a
    /// new one here.
    pub fn nearest() -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let found = here.ancestors().map(|folder| folder.join(FOLDER_NAME)).find(|folder| folder.is_dir());
        Self::new(found.unwrap_or_else(|| FOLDER_NAME.into()))
    }

    /// Returns the path as the user gave it.
    pub fn display(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the database's address, without a pooler: `DATABASE_DIRECT_URL`, else `DATABASE_URL`, else the
    /// folder's `database-url`.
    pub fn database_url(&self) -> Result<String, Failure> {
        let set =
            ["DATABASE_DIRECT_URL", "DATABASE_URL"].into_iter().filter_map(|name| std::env::var(name).ok());
        if let Some(url) = set.into_iter().find(|url| !url.is_empty()) {
            return Ok(url);
        }
        self.line("database-url")?.ok_or_else(|| {
            Failure::Usage(format!(
                "no database is known: set DATABASE_URL, or name the data folder of ./ops/up with --data (there is \
                 no {}/database-url)",
                self.display()
            ))
        })
    }

    /// Opens a connection to the database.
    pub async fn connect(&self) -> Result<PgConnection, Failure> {
        self.connect_to(&self.database_url()?).await
    }

    /// Returns the database's address for the role that may change the schema: `MIGRATION_DATABASE_URL`, else the
    /// result of [`Self::database_url`].
    pub fn owner_url(&self) -> Result<String, Failure> {
        let url = std::env::var("MIGRATION_DATABASE_URL").ok().filter(|url| !url.is_empty());
        url.map_or_else(|| self.database_url(), Ok)
    }

    /// Opens a connection to the database at `url`.
    pub async fn connect_to(&self, url: &str) -> Result<PgConnection, Failure> {
        let connection =
            async { PgConnection::connect_with(&database::options(url, CONNECTION_SETTINGS)?).await };
        let connection = database::within(CONNECT_TIMEOUT, connection).await;
        connection.map_err(|error| Failure::database("connecting to the database", &error))
    }

    /// Returns the service's address without a final slash: `given`, else the folder's `api-url`, else the default.
    pub fn api(&self, given: Option<&str>) -> Result<String, Failure> {
        let api = match given {
            Some(api) => api.to_owned(),
            None => self.line("api-url")?.unwrap_or_else(|| DEFAULT_API.to_owned()),
        };
        Ok(api.trim_end_matches('/').to_owned())
    }

    /// Returns the folders of model packs: the folder's `models-dir`, separated by colons, else those of a checkout.
    pub fn models(&self) -> Result<Vec<PathBuf>, Failure> {
        let line = self.line("models-dir")?.unwrap_or_else(|| DEFAULT_MODELS.to_owned());
        Ok(line.split(':').map(PathBuf::from).collect())
    }

    /// Returns the stored credentials, if there is a login.
    pub fn credentials(&self) -> Result<Option<Credentials>, Failure> {
        let path = self.path.join("credentials.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(reading(&path, error)),
        };
        let credentials = serde_json::from_str(&text)
            .with_context(|| format!("{} is damaged; run `retort login` again", path.display()))?;
        Ok(Some(credentials))
    }

    /// Stores `credentials` for later commands.
    pub fn store_credentials(&self, credentials: &Credentials) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(credentials).context("writing the credentials as JSON")?;
        self.write_secret("credentials.json", &text)
    }

    /// Deletes the stored credentials.
    pub fn delete_credentials(&self) -> Result<(), Failure> {
        let path = self.path.join("credentials.json");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::Other(anyhow::Error::new(error).context(format!("removing {}", path.display()))))
            }
            _ => Ok(()),
        }
    }

    /// Locks the credentials, and waits while another command holds the lock; dropping the returned file releases it.
    ///
    /// A refresh token works once, so two concurrent refreshes would end the login.
    pub fn lock_credentials(&self) -> Result<File, Failure> {
        fs::create_dir_all(&self.path).with_context(|| format!("making {}", self.path.display()))?;
        let path = self.path.join("credentials.lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("opening {}", path.display()))?;
        file.lock().with_context(|| format!("locking {}", path.display()))?;
        Ok(file)
    }

    fn write_secret(&self, name: &str, text: &str) -> Result<(), Failure> {
        fs::create_dir_all(&self.path).with_context(|| format!("making {}", self.path.display()))?;
        let path = self.path.join(name);
        let fresh = self.path.join(format!(".{name}.{}", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file =
                OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&fresh)?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&fresh, &path)
        };
        write().with_context(|| format!("writing {}", path.display()))?;
        Ok(())
    }

    /// Returns the first non-empty line of the file `name`, if there is one.
    fn line(&self, name: &str) -> Result<Option<String>, Failure> {
        let path = self.path.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => {
                Ok(text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(reading(&path, error)),
        }
    }
}

fn reading(path: &std::path::Path, error: io::Error) -> Failure {
    Failure::Other(anyhow::Error::new(error).context(format!("reading {}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn credentials_are_kept_for_their_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::new(folder.path().join("data"));
        let credentials = Credentials {
            api: "http://127.0.0.1:8080".into(),
            email: "demo@example.org".into(),
            access_token: "access".into(),
            refresh_token: None,
            expires_at: DateTime::UNIX_EPOCH,
        };

        data.store_credentials(&credentials).unwrap();

        let mode = fs::metadata(folder.path().join("data/credentials.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(data.credentials().unwrap(), Some(credentials));
    }

    #[test]
    fn the_models_are_those_of_the_installation() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::new(folder.path().into());

        assert_eq!(data.models().unwrap(), [PathBuf::from(DEFAULT_MODELS)]);
        fs::write(folder.path().join("models-dir"), "/shipped:/own\n").unwrap();
        assert_eq!(data.models().unwrap(), [PathBuf::from("/shipped"), PathBuf::from("/own")]);
    }

    #[test]
    fn the_address_given_wins_over_the_folders_and_over_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::new(folder.path().into());

        assert_eq!(data.api(None).unwrap(), DEFAULT_API);
        fs::write(folder.path().join("api-url"), "http://127.0.0.1:9000/\n").unwrap();
        assert_eq!(data.api(None).unwrap(), "http://127.0.0.1:9000");
        assert_eq!(data.api(Some("https://retort.example")).unwrap(), "https://retort.example");
    }
}
