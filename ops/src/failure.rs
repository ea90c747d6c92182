//! Failures of commands: one sentence for standard error and one exit code for scripts.
//!
//! The exit codes are part of the command line's interface. 2 is clap's code for wrong usage.

use std::{io, process::ExitCode};

use catalogue_tables::CatalogueError;
use model_tools::ModelToolError;

/// Exit status after Ctrl-C, as in shells: 128 plus the signal's number.
pub const INTERRUPTED: u8 = 130;

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// There are no usable credentials; the text says how to get them.
    #[error("{0}")]
    NotLoggedIn(String),
    /// The service understood the request and refused it.
    #[error("{0}")]
    Refused(String),
    /// The request names something that the service does not have.
    #[error("the request names something that is not there")]
    NotThere,
    /// The service or the database does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// The user's input cannot be used, which was found only after the arguments were parsed.
    #[error("{0}")]
    Usage(String),
    /// A search ended without a route; the text says what stopped it and what to try.
    #[error("no route found\n{0}")]
    NoRoute(String),
    /// The service refuses such requests for some seconds; the text says why.
    #[error("{why}; try again in {seconds} s")]
    Later {
        /// The service's message.
        why: String,
        /// Seconds to wait.
        seconds: u64,
    },
    /// Some of several items were done, and others could not be.
    #[error("{0}")]
    Partly(String),
    /// The user pressed Ctrl-C; the text says what is kept and how to continue.
    #[error("{0}")]
    Interrupted(String),
    /// Any other failure.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        match error {
            CatalogueError::Database { doing, source } => Self::database(doing, &source),
            CatalogueError::Other(error) => Self::Other(error),
        }
    }
}

impl From<ModelToolError> for Failure {
    fn from(error: ModelToolError) -> Self {
        match error {
            ModelToolError::Usage(text) => Self::Usage(text),
            ModelToolError::Other(error) => Self::Other(error),
        }
    }
}

impl Failure {
    /// Returns the exit code: 1 failure, 2 usage, 3 not logged in, 4 refused by the service, 5 unreachable, 6 no
    /// route, 7 some of several items not done, 130 interrupted.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Other(_) => 1,
            Self::Usage(_) => 2,
            Self::NotLoggedIn(_) => 3,
            Self::Refused(_) | Self::NotThere | Self::Later { .. } => 4,
            Self::Unreachable(_) => 5,
            Self::NoRoute(_) => 6,
            Self::Partly(_) => 7,
            Self::Interrupted(_) => INTERRUPTED,
        })
    }

    /// Returns true if the reader of standard output has closed it (`retort … | head`), which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        let Self::Other(error) = self else { return false };
        error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<io::Error>())
            .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Describes a database error in one sentence: the operation, and the server's message without protocol details.
    pub fn database(doing: &str, error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Tls(_) => {
                Self::Unreachable(format!("{doing}: the database does not answer ({error})"))
            }
            sqlx::Error::Database(cause) if cause.code().as_deref() == Some("42P01") => {
                Self::Other(anyhow::anyhow!("{doing}: {}; run `retort-api migrate` first", cause.message()))
            }
            sqlx::Error::Database(cause) if cause.code().as_deref() == Some("53100") => {
                Self::Other(anyhow::anyhow!(
                    "{doing}: the database's disk is full ({}); nothing was changed: give it room and run this again",
                    cause.message()
                ))
            }
            sqlx::Error::Database(cause) => Self::Other(anyhow::anyhow!("{doing}: {}", cause.message())),
            _ => Self::Other(anyhow::anyhow!("{doing}: {error}")),
        }
    }

    /// Describes an HTTP error in one sentence, with the cause from reqwest's error chain.
    pub fn http(base: &str, error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::Unreachable(format!("{base} did not answer in time"));
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        if error.is_connect() {
            return Self::Unreachable(format!(
                "cannot reach the service at {base}: {cause}; is ./ops/up running?"
            ));
        }
        Self::Other(anyhow::anyhow!("talking to {base}: {cause}"))
    }
}
