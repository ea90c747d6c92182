//! Server settings of every connection: the name of the process, and how long it may take or hold something.
//!
//! The server cleans up after a lost client: its keepalives detect a machine that is off, and a statement whose
//! client has disconnected is cancelled while it runs. Settings in `DATABASE_URL` itself (`?options=-c
//! statement_timeout=…`) take precedence.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

/// Lock timeout, for processes with a statement timeout.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings by which the server detects a lost client: probes after 10 s of silence, four of them, every 5 s; and
/// bytes that stay unacknowledged for 30 s end a connection. When a client has disconnected, its statement is
/// cancelled within 2 s.
const CLIENT_LOSS_SETTINGS: [(&str, &str); 5] = [
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "4"),
    ("tcp_user_timeout", "30000"),
    ("client_connection_check_interval", "2000"),
];

/// Limits of a process at the database.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Name of the process in `pg_stat_activity`.
    pub process: &'static str,
    /// Statement timeout; `None` is for an operator's commands, which may take as long as they need.
    pub statement: Option<Duration>,
    /// Timeout of an idle transaction; `None` is for ever.
    pub idle_transaction: Option<Duration>,
}

/// Parses the address `url`, and adds the settings for `terms`.
///
/// # Errors
/// Fails when `url` is no address of a database.
pub fn options(url: &str, terms: ConnectionLimits) -> Result<PgConnectOptions, sqlx::Error> {
    let own: PgConnectOptions = url.parse()?;
    let set = own.get_options().unwrap_or_default().to_owned();
    let limit = |name, time: Option<Duration>| time.map(|time| (name, time.as_millis().to_string()));
    let limits = [
        limit("statement_timeout", terms.statement),
        limit("lock_timeout", terms.statement.map(|statement| statement.min(LOCK_TIMEOUT))),
        limit("idle_in_transaction_session_timeout", terms.idle_transaction),
    ];
    let gone = CLIENT_LOSS_SETTINGS.map(|(name, value)| Some((name, value.to_owned())));
    let all = limits.into_iter().chain(gone).flatten().filter(|(name, _)| !set.contains(name));
    let named = match own.get_application_name() {
        None => own.application_name(terms.process),
        Some(_) => own,
    };
    Ok(named.options(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: ConnectionLimits = ConnectionLimits {
        process: "a test",
        statement: Some(Duration::from_secs(3)),
        idle_transaction: None,
    };

    #[test]
    fn a_statement_has_a_limit_unless_the_address_sets_another() {
        let of = |url| options(url, TERMS).unwrap().get_options().unwrap().to_owned();

        let ours = of("postgres://db/retort");
        let theirs = of("postgres://db/retort?options=-c%20statement_timeout%3D7");

        assert!(
            ours.contains("-c statement_timeout=3000") && ours.contains("-c lock_timeout=3000"),
            "{ours}"
        );
        assert!(!ours.contains("idle_in_transaction"), "{ours}");
        assert!(
            theirs.contains("-c statement_timeout=7") && !theirs.contains("3000 -c statement"),
            "{theirs}"
        );
        assert_eq!(theirs.matches("statement_timeout").count(), 1, "{theirs}");
    }

    #[test]
    fn a_process_has_its_name_unless_the_address_gives_another() {
        let of = |url| options(url, TERMS).unwrap().get_application_name().map(str::to_owned);

        assert_eq!(of("postgres://db/retort").as_deref(), Some("a test"));
        assert_eq!(of("postgres://db/retort?application_name=mine").as_deref(), Some("mine"));
    }
}
