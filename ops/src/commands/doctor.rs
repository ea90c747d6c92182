//! `retort doctor`: checks every part of an installation and reports faults.

use clap::Args;
use contract::{QueuePause, StoredSampleJob};
use identity::tables::accounts;
use queue::{
    Job, LiveWorkers,
    retention::{Retention, retentions},
};
use sqlx::PgConnection;

use crate::{InstallationArgs, failure::Failure, terminal};

/// Check every part of the installation and report faults.
#[derive(Debug, Args)]
pub struct Doctor {}

/// Fraction of the notification queue, and below it of the transaction ids, from which on the server counts as
/// faulty; the same limits as in `ops/dashboards/alerts.yml`.
const MAX_NOTIFICATION_USAGE: f64 = 0.1;
const MAX_TRANSACTION_ID_USAGE: f64 = 0.5;

/// Findings so far.
#[derive(Debug, Default)]
struct Findings {
    faults: usize,
}

impl Findings {
    fn good(&mut self, what: &str) -> Result<(), Failure> {
        terminal::data(&format!("ok     {what}"))
    }

    fn bad(&mut self, what: &str) -> Result<(), Failure> {
        self.faults += 1;
        terminal::data(&format!("FAULT  {what}"))
    }
}

impl Doctor {
    /// Runs the command.
    pub async fn run(self, place: &InstallationArgs) -> Result<(), Failure> {
        let mut findings = Findings::default();
        match place.data().connect().await {
            Ok(mut database) => check_database(&mut findings, &mut database).await?,
            Err(failure) => findings.bad(&format!("database: {failure}"))?,
        }
        check_service(&mut findings, place).await?;
        match findings.faults {
            0 => Ok(()),
            1 => Err(Failure::Other(anyhow::anyhow!("one fault"))),
            count => Err(Failure::Other(anyhow::anyhow!("{count} faults"))),
        }
    }
}

async fn check_database(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    let version = sqlx::query_scalar!(r#"select current_setting('server_version') as "version!""#)
        .fetch_one(&mut *database)
        .await;
    match version {
        Ok(version) => findings.good(&format!("database: PostgreSQL {version} answers"))?,
        Err(error) => return findings.bad(&format!("database: {error}")),
    }
    if !check_migrations(findings, database).await? {
        return Ok(());
    }
    check_catalogue(findings, database).await?;
    check_accounts(findings, database).await?;
    check_space(findings, database).await?;
    check_server(findings, database).await?;
    check_workers(findings, database).await?;
    check_connections(findings, database).await
}

/// Checks that the schema is the one that this program knows.
async fn check_migrations(findings: &mut Findings, database: &mut PgConnection) -> Result<bool, Failure> {
    // Not checked at compile time: the table belongs to the migrator, and no migration creates it.
    let applied: Result<Vec<(i64, bool)>, _> =
        sqlx::query_as("select version, success from _sqlx_migrations order by version")
            .fetch_all(database)
            .await;
    let Ok(applied) = applied else {
        findings.bad("migrations: none applied; run `retort-api migrate`")?;
        return Ok(false);
    };
    let known: Vec<i64> = schema::MIGRATIONS.iter().map(|migration| migration.version).collect();
    let missing: Vec<String> = known
        .iter()
        .filter(|version| !applied.iter().any(|(done, success)| done == *version && *success))
        .map(ToString::to_string)
        .collect();
    let newer: Vec<String> = applied
        .iter()
        .filter(|(version, _)| !known.contains(version))
        .map(|(version, _)| version.to_string())
        .collect();
    if !missing.is_empty() {
        findings.bad(&format!("migrations: {} missing; run `retort-api migrate`", missing.join(", ")))?;
        return Ok(false);
    }
    if !newer.is_empty() {
        findings.good(&format!(
            "migrations: all {} applied, and {} of a later release",
            known.len(),
            newer.join(", ")
        ))?;
    } else {
        findings.good(&format!("migrations: all {} applied", known.len()))?;
    }
    Ok(true)
}

async fn check_catalogue(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    match catalogue_tables::query::info(database).await {
        Ok(info) if info.building_blocks == 0 => {
            findings.bad("catalogue: empty, so no route can be found; see `retort catalogue import --help`")
        }
        Ok(info) => findings.good(&format!(
            "catalogue: {} building blocks of {} vendors",
            info.building_blocks,
            info.vendors.len()
        )),
        Err(failure) => findings.bad(&format!("catalogue: {failure}")),
    }
}

async fn check_accounts(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    match accounts::active(database).await {
        Ok(0) => findings.bad("accounts: none; make one with `retort account add EMAIL`"),
        Ok(count) => findings.good(&format!("accounts: {count}")),
        Err(error) => findings.bad(&format!("accounts: {error}")),
    }
}

/// Checks resources that PostgreSQL runs out of silently: the notification queue and transaction ids.
async fn check_server(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    let used = sqlx::query!(
        r#"select pg_notification_queue_usage() as "notifications!",
            (select max(age(datfrozenxid)) from pg_database)::float8 / 2e9 as "transaction_ids!""#
    );
    match used.fetch_one(database).await {
        Ok(used) => {
            let percent = |part: f64| (part * 100.0).ceil();
            let (notifications, ids) = (percent(used.notifications), percent(used.transaction_ids));
            let words = format!(
                "server: {notifications} % of the room for notifications is taken, {ids} % of the ids of transactions"
            );
            if used.notifications < MAX_NOTIFICATION_USAGE && used.transaction_ids < MAX_TRANSACTION_ID_USAGE
            {
                findings.good(&words)
            } else {
                findings.bad(&words)
            }
        }
        Err(error) => findings.bad(&format!("server: {error}")),
    }
}

/// Reports the sizes of the largest tables, and the retention times.
async fn check_space(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    let tables = sqlx::query_scalar!(
        r#"select coalesce(string_agg(format('%s %s', name, pg_size_pretty(bytes)), ', ' order by bytes desc), '') as "tables!"
        from (
            select oid::regclass as name, pg_total_relation_size(oid) as bytes from pg_class
            where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'apalis')
            order by bytes desc limit 5
        ) as largest"#
    );
    match tables.fetch_one(&mut *database).await {
        Ok(tables) => findings.good(&format!("space: {tables}"))?,
        Err(error) => findings.bad(&format!("space: {error}"))?,
    }
    match retentions(database).await {
        Ok(kept) if kept.is_empty() => findings.good("kept: everything"),
        Ok(kept) => kept.iter().try_for_each(|kept| findings.good(&format!("kept: {}", in_words(kept)))),
        Err(error) => findings.bad(&format!("kept: {error}")),
    }
}

fn in_words(kept: &Retention) -> String {
    let Retention { what, keep_seconds, seconds_ago, deleted } = kept;
    match keep_seconds {
        None => format!("{what} for ever"),
        Some(seconds) => {
            let time = if *seconds >= 86_400.0 {
                format!("{} days", (seconds / 86_400.0).floor())
            } else {
                format!("{seconds} s")
            };
            format!("{what} for {time}; {deleted} deleted so far, last looked {seconds_ago:.0} s ago")
        }
    }
}

async fn check_workers(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    let live = match queue::live_workers(&mut *database).await {
        Ok(live) => live,
        Err(error) => return findings.bad(&format!("workers: {error}")),
    };
    for (queue, command) in [("sample", "retort-worker sample"), ("search", "retort-worker search")] {
        match live.iter().find(|live| live.queue == queue) {
            Some(LiveWorkers { processes, slots, .. }) => {
                findings.good(&format!("workers: {processes} for {queue} jobs, {slots} at a time"))?;
            }
            None => findings
                .bad(&format!("workers: no live one for {queue} jobs; start `{command}`, or read its log"))?,
        }
    }
    match queue::operations::pauses(&mut *database).await {
        Ok(pauses) => {
            for (queue, QueuePause { since, by }) in pauses {
                let since = since.format("%Y-%m-%d %H:%M UTC");
                findings.bad(&format!(
                    "queue {}: paused by {by} since {since}; p in `retort top` resumes it",
                    queue::queue_label(&queue)
                ))?;
            }
        }
        Err(error) => findings.bad(&format!("queues: {error}"))?,
    }
    let models = queue::live_models(&mut *database, StoredSampleJob::QUEUE).await;
    match models {
        Ok(models) if models.is_empty() => findings.bad("models: no sampler has one loaded"),
        Ok(models) => {
            let ids: Vec<_> = models.into_iter().map(|model| model.model_id).collect();
            findings.good(&format!("models: {}", ids.join(", ")))
        }
        Err(error) => findings.bad(&format!("models: {error}")),
    }
}

/// Checks that the server has enough connections for all live processes.
async fn check_connections(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    match queue::budget(database).await {
        Ok(budget) if budget.fits() => findings.good(&format!("connections: {budget}")),
        Ok(budget) => findings.bad(&format!("connections: {budget}")),
        Err(error) => findings.bad(&format!("connections: {error}")),
    }
}

async fn check_service(findings: &mut Findings, place: &InstallationArgs) -> Result<(), Failure> {
    let service = place.service()?;
    match service.probe("/readyz").await {
        Ok((status, _)) if status.is_success() => {
            findings.good(&format!("service: {} is ready", service.base()))?
        }
        Ok((status, body)) => {
            findings.bad(&format!("service: {} is not ready ({status}): {}", service.base(), body.trim()))?;
        }
        Err(failure) => return findings.bad(&format!("service: {failure}")),
    }
    match (place.data().credentials(), service.access_token().await) {
        (_, Ok(_)) => findings.good("login: there is a valid token"),
        // An installation need not have a login.
        (Ok(None), _) => findings.good("login: nobody"),
        (_, Err(failure)) => findings.bad(&format!("login: {failure}")),
    }
}
