//! Settings of the process, read and checked once at start.
//!
//! All errors are reported together, so that an operator with three wrong variables learns of them in one attempt.

mod reader;

use std::{collections::BTreeMap, fmt, net::SocketAddr, str::FromStr, time::Duration};

use axum::http::HeaderValue;
use contract::QuotaKind;
use identity::{IdentitySettings, Switch};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    connections::{Connections, LISTENERS},
    retention_times::RetentionTimes,
    server::Tls,
    word_pattern::is_word,
};
use reader::SettingsReader;

/// Settings of the API process.
#[derive(Debug, Clone)]
pub struct Config {
    /// `DATABASE_URL`; holds a password, so it is never printed.
    pub database_url: SecretString,
    /// `DATABASE_DIRECT_URL`, default `DATABASE_URL`: the same database past a pooler, for what needs a session.
    pub database_direct_url: SecretString,
    /// `MIGRATION_DATABASE_URL`, default `DATABASE_DIRECT_URL`: the same database by a role that may change its schema.
    pub migration_database_url: SecretString,
    /// `DATABASE_CONNECTIONS`, default 34: largest number of connections that this process opens.
    pub database_connections: Connections,
    /// `REQUEST_SECONDS`, default 10: longest duration of a request that waits for no worker.
    pub request_time: Duration,
    /// `REQUESTS_AT_ONCE`, default 32 for each of `RETORT_THREADS`: largest number of concurrent requests that wait
    /// for no worker; further ones are refused at once.
    pub requests_at_once: usize,
    /// `HTTP_ADDR`, default `127.0.0.1:8080`.
    pub http_addr: SocketAddr,
    /// Settings of the authorization server and of token checks; `PUBLIC_URL` defaults to `http://HTTP_ADDR` (`https`
    /// with TLS).
    pub identity: IdentitySettings,
    /// `MAX_SECONDS_LIMIT`, default 120: largest `max_seconds` of a tree search.
    pub max_seconds_limit: f64,
    /// `SAMPLE_DEADLINE_SECONDS`, default 60: time that a caller waits for a sample.
    pub sample_deadline: Duration,
    /// `SEARCH_SLACK_SECONDS`, default 15: time beyond `max_seconds` that a caller waits for a search.
    pub search_slack: Duration,
    /// `SHUTDOWN_DELAY_SECONDS`, default 0: time for which a process that was told to stop still accepts requests
    /// while it reports that it is not ready; as long as a load balancer takes to notice.
    pub shutdown_delay: Duration,
    /// `DEFAULT_MODEL`: models for callers that name none, of which the first on a live sampler is used; by default
    /// those that ship.
    pub default_models: Vec<String>,
    /// `ENGINE_ALIASES`: other names of engines, as `name=engine`, for clients with fixed names; none by default.
    pub engine_aliases: BTreeMap<String, String>,
    /// `GZIP_BODY`, default `contract`.
    pub gzip_body: GzipBody,
    /// `RATE_*_PER_MINUTE`; per account, over all API processes.
    pub rates: RateSettings,
    /// `JOBS_IN_FLIGHT`, default 64: largest number of searches, and of samples, that an account may have in flight;
    /// 0: unlimited.
    pub jobs_in_flight: u32,
    /// `WAITING_TARGETS`, default 1,000,000: largest number of waiting targets in an account's plans and batches; 0:
    /// unlimited.
    pub waiting_targets: u32,
    /// `WAITING_MOLECULES`, default 10,000,000: largest number of waiting molecules in an account's asynchronous
    /// samples and sample batches; 0: unlimited.
    pub waiting_molecules: u32,
    /// `KEEP_SAMPLES_DAYS`, `KEEP_PLANS_DAYS`, `KEEP_JOURNAL_DAYS` and `KEEP_PRICES_DAYS`, by default 0: for ever.
    pub retention_times: RetentionTimes,
    /// `CORS_ORIGINS`: web pages from here may call the service; none by default.
    pub cors_origins: Vec<HeaderValue>,
    /// `TLS_CERTIFICATE` and `TLS_KEY`: PEM files; without them the process speaks plain HTTP.
    pub tls: Option<Tls>,
    /// `HEADER_SECONDS`, default 10: longest time that a client may take for request headers, or stay idle.
    pub header_time: Duration,
    /// `CONNECTIONS`: most connections at once; by default as many as the process may have descriptors.
    pub connections: Option<usize>,
    /// `CONNECTIONS_PER_ADDRESS`, default 256: most connections from one address that is not in `TRUSTED_PROXIES`.
    pub connections_by_address: usize,
}

const YEAR: u32 = 365 * 24 * 3600;

/// Shortest retention of the audit log: the database keeps its entries for a year, which may have a leap day.
const MIN_AUDIT_LOG_DAYS: u32 = 366;

/// Models that ship, the default first.
const SHIPPED_MODELS: &str = "druglike_gru,leadlike_gru,druglike_gru_large";

/// Requests a minute; 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSettings {
    /// `RATE_SAMPLES_CREATE_PER_MINUTE`, default 60.
    pub samples_create: u32,
    /// `RATE_MOLECULES_PER_MINUTE`, default 600,000: sum of the sizes of the samples created. Sample batches yield to
    /// them and do not count.
    pub molecules: u32,
    /// `RATE_SAMPLES_READ_PER_MINUTE`, default 600: list and retrieve together.
    pub samples_read: u32,
    /// `RATE_TREESEARCH_PER_MINUTE`, default 60.
    pub treesearch: u32,
    /// `RATE_SEARCH_SECONDS_PER_MINUTE`, default 600: sum of the seconds that searches take.
    pub search_seconds: u32,
    /// `STORED_MEGABYTES`, default 10,000: storage of an account's plans and kept routes, at any time.
    pub stored_megabytes: u32,
}

impl RateSettings {
    /// Returns the default amount of `quota_kind` per minute.
    pub(crate) const fn of(&self, quota_kind: QuotaKind) -> u32 {
        match quota_kind {
            QuotaKind::SamplesCreate => self.samples_create,
            QuotaKind::Molecules => self.molecules,
            QuotaKind::Reads => self.samples_read,
            QuotaKind::TreeSearch => self.treesearch,
            QuotaKind::SearchSeconds => self.search_seconds,
            QuotaKind::StoredMegabytes => self.stored_megabytes,
        }
    }
}

/// Body format for a caller whose `accept-encoding` contains `gzip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GzipBody {
    /// Gzipped JSON in Base64 as text, as the contract says.
    Contract,
    /// `Content-Encoding: gzip`, as RFC 9110 says.
    Standard,
}

impl FromStr for GzipBody {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "contract" => Ok(Self::Contract),
            "standard" => Ok(Self::Standard),
            _ => Err("want `contract` or `standard`"),
        }
    }
}

/// All errors in the settings.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// One sentence per error, each naming its variable.
    pub faults: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the settings cannot be used:")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the environment of the process.
    ///
    /// # Errors
    /// Fails with all errors at once.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(&std::env::vars().collect())
    }

    /// Reads `variables`; an empty one counts as unset.
    ///
    /// # Errors
    /// Fails with all errors at once.
    pub fn from_variables(variables: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let mut reader = SettingsReader { variables, faults: Vec::new() };
        let http_addr = reader.read("HTTP_ADDR", SocketAddr::from(([127, 0, 0, 1], 8080)), Ok);
        let tls = reader.tls();
        let database_url = reader.database_url("DATABASE_URL");
        let database_direct_url = reader.database_url_or("DATABASE_DIRECT_URL", &database_url);
        let migration_database_url = reader.database_url_or("MIGRATION_DATABASE_URL", &database_direct_url);
        let threads = reader.threads();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let config = Self {
            database_url,
            database_direct_url,
            migration_database_url,
            database_connections: reader.read("DATABASE_CONNECTIONS", Connections::default(), Ok),
            request_time: reader.seconds("REQUEST_SECONDS", 10, 300),
            requests_at_once: reader.requests_at_once(threads),
            http_addr,
            identity: IdentitySettings {
                public_url: reader.read("PUBLIC_URL", format!("{scheme}://{http_addr}"), web_address),
                access_token_lifetime: reader.access_token_lifetime(),
                refresh_token_lifetime: reader.seconds("REFRESH_TOKEN_SECONDS", 30 * 24 * 3600, 10 * YEAR),
                session_lifetime: reader.seconds("AUTH_SESSION_SECONDS", 12 * 3600, YEAR),
                keys_secret: reader.optional("KEYS_SECRET"),
                issuers: reader.list("AUTH_ISSUER", "", issuer_address),
                audiences: reader.list("AUTH_AUDIENCE", "retort", |text| Ok(text.to_owned())),
                trusted_proxies: reader.list("TRUSTED_PROXIES", "", str::parse),
                logins_per_minute: reader.read("RATE_LOGIN_PER_MINUTE", 20, Ok),
                implicit_flow: reader.read("AUTH_IMPLICIT", Switch::On, Ok),
                password_grant: reader.read("AUTH_PASSWORD_GRANT", Switch::Off, Ok),
                threads,
            },
            max_seconds_limit: reader.read("MAX_SECONDS_LIMIT", 120.0, positive),
            sample_deadline: reader.seconds("SAMPLE_DEADLINE_SECONDS", 60, 3600),
            search_slack: reader.seconds("SEARCH_SLACK_SECONDS", 15, 3600),
            shutdown_delay: Duration::from_secs(reader.read("SHUTDOWN_DELAY_SECONDS", 0_u32, Ok).into()),
            default_models: reader.list("DEFAULT_MODEL", SHIPPED_MODELS, model_id),
            engine_aliases: reader.list("ENGINE_ALIASES", "", engine_alias).into_iter().collect(),
            gzip_body: reader.read("GZIP_BODY", GzipBody::Contract, Ok),
            rates: RateSettings {
                samples_create: reader.read("RATE_SAMPLES_CREATE_PER_MINUTE", 60, Ok),
                molecules: reader.read("RATE_MOLECULES_PER_MINUTE", 600_000, Ok),
                samples_read: reader.read("RATE_SAMPLES_READ_PER_MINUTE", 600, Ok),
                treesearch: reader.read("RATE_TREESEARCH_PER_MINUTE", 60, Ok),
                search_seconds: reader.read("RATE_SEARCH_SECONDS_PER_MINUTE", 600, Ok),
                stored_megabytes: reader.read("STORED_MEGABYTES", 10_000, Ok),
            },
            jobs_in_flight: reader.read("JOBS_IN_FLIGHT", 64, Ok),
            waiting_targets: reader.read("WAITING_TARGETS", 1_000_000, Ok),
            waiting_molecules: reader.read("WAITING_MOLECULES", 10_000_000, Ok),
            retention_times: RetentionTimes {
                samples: reader.days("KEEP_SAMPLES_DAYS", 1),
                plans: reader.days("KEEP_PLANS_DAYS", 1),
                audit_log: reader.days("KEEP_JOURNAL_DAYS", MIN_AUDIT_LOG_DAYS),
                prices: reader.days("KEEP_PRICES_DAYS", 1),
            },
            cors_origins: reader.list("CORS_ORIGINS", "", origin),
            tls,
            header_time: reader.seconds("HEADER_SECONDS", 10, 3600),
            connections: reader.optional("CONNECTIONS"),
            connections_by_address: reader.read("CONNECTIONS_PER_ADDRESS", 256, Ok),
        };
        if reader.faults.is_empty() { Ok(config) } else { Err(ConfigError { faults: reader.faults }) }
    }

    /// Returns the number of connections that the process opens to the server itself, published to its peers:
    /// connections behind a pooler are the pooler's.
    #[must_use]
    pub(crate) fn connections_to_server(&self) -> u32 {
        match self.has_pooler() {
            true => LISTENERS,
            false => self.database_connections.all(),
        }
    }

    /// Returns true if `DATABASE_URL` points to a pooler.
    #[must_use]
    pub fn has_pooler(&self) -> bool {
        self.database_direct_url.expose_secret() != self.database_url.expose_secret()
    }

    /// Returns the longest duration of an accepted request: the latest deadline and some seconds around it. A request
    /// that lasts longer is stuck.
    #[must_use]
    pub fn max_request_time(&self) -> Duration {
        let search = self.search_slack + Duration::from_secs_f64(self.max_seconds_limit);
        self.sample_deadline.max(search) + Duration::from_secs(5)
    }

    /// Returns the longest duration of a shutdown; killing the process earlier breaks requests off.
    #[must_use]
    pub fn max_shutdown_time(&self) -> Duration {
        self.shutdown_delay + self.max_request_time()
    }
}

fn positive(value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 86_400.0 {
        Ok(value)
    } else {
        Err("want seconds over 0, at most a day".to_owned())
    }
}

fn model_id(text: &str) -> Result<String, String> {
    if is_word(text) { Ok(text.to_owned()) } else { Err(format!("`{text}` is not a model id")) }
}

/// Parses an alias of an engine, and the engine.
fn engine_alias(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, engine)) if is_word(name) && is_word(engine) => Ok((name.to_owned(), engine.to_owned())),
        _ => Err(format!("`{text}` does not name an engine: want `name=engine`")),
    }
}

/// Checks an issuer's address, which must equal the one in its tokens byte for byte.
fn issuer_address(text: &str) -> Result<String, String> {
    let loopback = ["http://127.0.0.1", "http://[::1]", "http://localhost"];
    if text.starts_with("https://") || loopback.iter().any(|start| text.starts_with(start)) {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not an `https://…` address"))
    }
}

fn origin(text: &str) -> Result<HeaderValue, String> {
    let fault = || format!("`{text}` is not an origin such as `https://app.example.org`");
    let (scheme, rest) = text.split_once("://").ok_or_else(fault)?;
    if !["http", "https"].contains(&scheme) || rest.is_empty() || rest.contains(['/', '*', ' ', '@']) {
        return Err(fault());
    }
    HeaderValue::try_from(text).map_err(|_| fault())
}

fn web_address(url: String) -> Result<String, String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    match rest {
        Some(rest) if rest.trim_end_matches('/').contains('/') => {
            Err("want a host without a path: cookies and redirects of the login are for a whole host"
                .to_owned())
        }
        Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', ' ']) => {
            Ok(url.trim_end_matches('/').to_owned())
        }
        _ => Err("want `http://…` or `https://…` without query or fragment".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread::available_parallelism;

    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_database_is_all_that_must_be_set() {
        let config = Config::from_variables(&variables(&[("DATABASE_URL", "postgres://db/retort")])).unwrap();

        assert_eq!(config.identity.public_url, "http://127.0.0.1:8080");
        assert_eq!(config.identity.issuer(), "http://127.0.0.1:8080/auth");
        assert_eq!(config.gzip_body, GzipBody::Contract);
        assert_eq!(config.default_models, ["druglike_gru", "leadlike_gru", "druglike_gru_large"]);
        assert_eq!(config.identity.password_grant, Switch::Off);
        let rates = RateSettings {
            samples_create: 60,
            molecules: 600_000,
            samples_read: 600,
            treesearch: 60,
            search_seconds: 600,
            stored_megabytes: 10_000,
        };
        assert_eq!(config.rates, rates);
    }

    #[test]
    fn a_stop_takes_as_long_as_the_longest_request_and_its_delay() {
        let stop = |pairs: &[(&str, &str)]| {
            let pairs = [&[("DATABASE_URL", "postgres://db/retort")], pairs].concat();
            Config::from_variables(&variables(&pairs)).unwrap().max_shutdown_time().as_secs()
        };

        assert_eq!(stop(&[]), 120 + 15 + 5);
        assert_eq!(stop(&[("SAMPLE_DEADLINE_SECONDS", "600"), ("SHUTDOWN_DELAY_SECONDS", "7")]), 7 + 600 + 5);
    }

    #[test]
    fn migrations_have_the_services_address_unless_they_have_their_own() {
        let of = |pairs: &[(&str, &str)]| Config::from_variables(&variables(pairs)).unwrap();
        let one = of(&[("DATABASE_URL", "postgres://db/retort")]);
        let two = of(&[
            ("DATABASE_URL", "postgres://db/retort"),
            ("MIGRATION_DATABASE_URL", "postgres://own@db/retort"),
        ]);

        assert_eq!(one.migration_database_url.expose_secret(), "postgres://db/retort");
        assert_eq!(two.migration_database_url.expose_secret(), "postgres://own@db/retort");
        assert_eq!(two.database_url.expose_secret(), "postgres://db/retort");
    }

    #[test]
    fn sessions_and_migrations_bypass_the_pooler() {
        let url = ("DATABASE_URL", "postgres://pooler/retort");
        let direct = ("DATABASE_DIRECT_URL", "postgres://db/retort");
        let pooled = Config::from_variables(&variables(&[url, direct])).unwrap();
        let plain = Config::from_variables(&variables(&[url])).unwrap();

        assert_eq!(pooled.database_url.expose_secret(), "postgres://pooler/retort");
        assert_eq!(pooled.database_direct_url.expose_secret(), "postgres://db/retort");
        assert_eq!(pooled.migration_database_url.expose_secret(), "postgres://db/retort");
        assert_eq!(plain.database_direct_url.expose_secret(), "postgres://pooler/retort");
        // With a pooler the server sees only the connections that listen.
        assert_eq!((pooled.connections_to_server(), plain.connections_to_server()), (2, 34));
    }

    #[test]
    fn a_process_has_all_threads_unless_their_number_is_set() {
        let threads = |pairs: &[(&str, &str)]| {
            let pairs = [&[("DATABASE_URL", "postgres://db/retort")], pairs].concat();
            Config::from_variables(&variables(&pairs)).unwrap().identity.threads
        };

        assert_eq!(threads(&[("RETORT_THREADS", "3")]).get(), 3);
        assert_eq!(threads(&[]), available_parallelism().unwrap());
    }

    #[test]
    fn every_fault_is_reported_at_once_and_no_secret_with_it() {
        let faulty = [
            ("DATABASE_URL", "mysql://user:secret@db/retort"),
            ("HTTP_ADDR", "here"),
            ("MAX_SECONDS_LIMIT", "0"),
            ("GZIP_BODY", "yes"),
            ("PUBLIC_URL", "example.org"),
            ("DATABASE_CONNECTIONS", "5"),
            ("REQUEST_SECONDS", "0"),
            ("RETORT_THREADS", "0"),
            ("SAMPLE_DEADLINE_SECONDS", "100000"),
            ("DEFAULT_MODEL", "druglike_gru, a-b"),
        ];

        let error = Config::from_variables(&variables(&faulty)).unwrap_err();

        assert_eq!(
            error.faults,
            [
                "HTTP_ADDR is `here`: invalid socket address syntax",
                "DATABASE_URL is not set to a `postgres://…` address",
                "RETORT_THREADS is `0`: number would be zero for non-zero type",
                "DATABASE_CONNECTIONS is `5`: want 6 to 10000",
                "REQUEST_SECONDS is `0`: want 1 to 300 seconds",
                "PUBLIC_URL is `example.org`: want `http://…` or `https://…` without query or fragment",
                "MAX_SECONDS_LIMIT is `0`: want seconds over 0, at most a day",
                "SAMPLE_DEADLINE_SECONDS is `100000`: want 1 to 3600 seconds",
                "DEFAULT_MODEL: `a-b` is not a model id",
                "GZIP_BODY is `yes`: want `contract` or `standard`",
            ]
        );
    }
}
