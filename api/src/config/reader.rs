//! Parsing of one setting: its text, its check, its default. An error is recorded, and parsing goes on.

use std::{
    collections::BTreeMap, fmt, num::NonZeroUsize, str::FromStr, thread::available_parallelism,
    time::Duration,
};

use identity::LONGEST_ACCESS_TOKEN;
use secrecy::SecretString;

use crate::server::Tls;

/// Upper limit of threads, beyond the cores of any machine.
const MAX_THREADS: usize = 1024;

/// Concurrent requests for each thread; two cores answer 64 in some 20 ms.
const REQUESTS_PER_THREAD: usize = 32;

/// Upper limit of concurrent requests, beyond what any process can answer within its deadlines.
const MAX_REQUESTS: usize = 1_000_000;

/// Variables, and the errors in those that were read.
pub(super) struct SettingsReader<'a> {
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) faults: Vec<String>,
}

impl SettingsReader<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the checked value of `name`, or `default` if it is unset or invalid; an error is recorded.
    pub(super) fn read<T>(&mut self, name: &str, default: T, check: impl FnOnce(T) -> Result<T, String>) -> T
    where
        T: FromStr + Clone,
        T::Err: fmt::Display,
    {
        let Some(text) = self.get(name) else { return default };
        let value = text.parse::<T>().map_err(|error| error.to_string()).and_then(check);
        match value {
            Ok(value) => value,
            Err(fault) => {
                self.faults.push(format!("{name} is `{text}`: {fault}"));
                default
            }
        }
    }

    pub(super) fn seconds(&mut self, name: &str, default: u32, most: u32) -> Duration {
        let within = |seconds| match (1..=most).contains(&seconds) {
            true => Ok(seconds),
            false => Err(format!("want 1 to {most} seconds")),
        };
        Duration::from_secs(self.read(name, default, within).into())
    }

    /// Returns a number of days, at least `least`; `None` for 0, which is the default and means for ever.
    pub(super) fn days(&mut self, name: &str, least: u32) -> Option<Duration> {
        let most = 100 * 366;
        let within = |days| match days == 0 || (least..=most).contains(&days) {
            true => Ok(days),
            false => Err(format!("want {least} to {most} days, or 0 to keep all of it")),
        };
        let days = self.read(name, 0, within);
        (days > 0).then(|| Duration::from_secs(u64::from(days) * 24 * 3600))
    }

    /// Returns the lifetime, which may be no longer than a revocation is stored.
    pub(super) fn access_token_lifetime(&mut self) -> Duration {
        let longest = LONGEST_ACCESS_TOKEN.as_secs();
        let check = |seconds: u64| {
            if (1..=longest).contains(&seconds) {
                Ok(seconds)
            } else {
                Err(format!("want 1 to {longest} seconds"))
            }
        };
        Duration::from_secs(self.read("ACCESS_TOKEN_SECONDS", 3600, check))
    }

    /// Returns the checked items of `name`, or of `default`, separated by commas; errors are recorded.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        default: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let text = self.get(name).unwrap_or(default).to_owned();
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let (good, faults): (Vec<_>, Vec<_>) = parts.map(parse).partition(Result::is_ok);
        self.faults
            .extend(faults.into_iter().filter_map(Result::err).map(|fault| format!("{name}: {fault}")));
        good.into_iter().filter_map(Result::ok).collect()
    }

    pub(super) fn tls(&mut self) -> Option<Tls> {
        match (self.get("TLS_CERTIFICATE"), self.get("TLS_KEY")) {
            (Some(certificate), Some(key)) => Some(Tls { certificate: certificate.into(), key: key.into() }),
            (None, None) => None,
            _ => {
                self.faults.push("TLS_CERTIFICATE and TLS_KEY go together".to_owned());
                None
            }
        }
    }

    /// Returns the value of `name`, which has no default. An error is recorded without the value, since it may be a
    /// secret.
    pub(super) fn optional<T: FromStr<Err: fmt::Display>>(&mut self, name: &str) -> Option<T> {
        let value = self.get(name)?.parse();
        value.map_err(|error| self.faults.push(format!("{name}: {error}"))).ok()
    }

    pub(super) fn threads(&mut self) -> NonZeroUsize {
        let all = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let within = |threads: NonZeroUsize| match threads.get() {
            ..=MAX_THREADS => Ok(threads),
            _ => Err(format!("want 1 to {MAX_THREADS} threads")),
        };
        self.read("RETORT_THREADS", all, within)
    }

    pub(super) fn requests_at_once(&mut self, threads: NonZeroUsize) -> usize {
        let within = |requests| match (1..=MAX_REQUESTS).contains(&requests) {
            true => Ok(requests),
            false => Err(format!("want 1 to {MAX_REQUESTS} requests")),
        };
        self.read("REQUESTS_AT_ONCE", threads.get() * REQUESTS_PER_THREAD, within)
    }

    pub(super) fn database_url_or(&mut self, name: &str, default: &SecretString) -> SecretString {
        match self.get(name) {
            Some(_) => self.database_url(name),
            None => default.clone(),
        }
    }

    pub(super) fn database_url(&mut self, name: &str) -> SecretString {
        let url = self.get(name).unwrap_or_default().to_owned();
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            // The value is not shown: it may hold a password.
            self.faults.push(format!("{name} is not set to a `postgres://…` address"));
        }
        url.into()
    }
}
