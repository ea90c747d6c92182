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
    fn pass(&mut self, what: &str) -> Result<(), Failure> {
        terminal::data(&format!("ok     {what}"))
    }

    fn fail(&mut self, what: &str) -> Result<(), Failure> {
        self.faults += 1;
        terminal::data(&format!("FAULT  {what}"))
    }
}

impl Doctor {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut findings = Findings::default();
        match installation.data().connect().await {
            Ok(mut database) => check_database(&mut findings, &mut database).await?,
            Err(failure) => findings.fail(&format!("database: {failure}"))?,
        }
        check_service(&mut findings, installation).await?;
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
        Ok(version) => findings.pass(&format!("database: PostgreSQL {version} answers"))?,
        Err(error) => return findings.fail(&format!("database: {error}")),
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
        findings.fail("migrations: none applied; run `retort-api migrate`")?;
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
        findings.fail(&format!("migrations: {} missing; run `retort-api migrate`", missing.join(", ")))?;
        return Ok(false);
    }
    if !newer.is_empty() {
        findings.pass(&format!(
            "migrations: all {} applied, and {} of a later release",
            known.len(),
            newer.join(", ")
        ))?;
    } else {
        findings.pass(&format!("migrations: all {} applied", known.len()))?;
    }
    Ok(true)
}

async fn check_catalogue(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    match catalogue_tables::query::info(database).await {
        Ok(info) if info.building_blocks == 0 => {
            findings.fail("catalogue: empty, so no route can be found; see `retort catalogue import --help`")
        }
        Ok(info) => findings.pass(&format!(
            "catalogue: {} building blocks of {} vendors",
            info.building_blocks,
            info.vendors.len()
        )),
        Err(failure) => findings.fail(&format!("catalogue: {failure}")),
    }
}

async fn check_accounts(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    match accounts::active(database).await {
        Ok(0) => findings.fail("accounts: none; make one with `retort account add EMAIL`"),
        Ok(count) => findings.pass(&format!("accounts: {count}")),
        Err(error) => findings.fail(&format!("accounts: {error}")),
    }
}

/// Checks resources that PostgreSQL runs out of silently: the notification queue and transaction ids.
async fn check_server(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    let usage = sqlx::query!(
        r#"select pg_notification_queue_usage() as "notifications!",
            (select max(age(datfrozenxid)) from pg_database)::float8 / 2e9 as "transaction_ids!""#
    );
    match usage.fetch_one(database).await {
        Ok(usage) => {
            let percent = |part: f64| (part * 100.0).ceil();
            let (notifications, ids) = (percent(usage.notifications), percent(usage.transaction_ids));
            let message =
                format!("server: notification queue {notifications} % full, {ids} % of transaction ids used");
            if usage.notifications < MAX_NOTIFICATION_USAGE
                && usage.transaction_ids < MAX_TRANSACTION_ID_USAGE
            {
                findings.pass(&message)
            } else {
                findings.fail(&message)
            }
        }
        Err(error) => findings.fail(&format!("server: {error}")),
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
        Ok(tables) => findings.pass(&format!("space: {tables}"))?,
        Err(error) => findings.fail(&format!("space: {error}"))?,
    }
    match retentions(database).await {
        Ok(retentions) if retentions.is_empty() => findings.pass("kept: everything"),
        Ok(retentions) => retentions
            .iter()
            .try_for_each(|retention| findings.pass(&format!("kept: {}", describe_retention(retention)))),
        Err(error) => findings.fail(&format!("kept: {error}")),
    }
}

fn describe_retention(retention: &Retention) -> String {
    let Retention { what, keep_seconds, seconds_ago, deleted } = retention;
    match keep_seconds {
        None => format!("{what} for ever"),
        Some(seconds) => {
            let time = if *seconds >= 86_400.0 {
                format!("{} days", (seconds / 86_400.0).floor())
            } else {
                format!("{seconds} s")
            };
            format!("{what} for {time}; {deleted} deleted so far, last sweep {seconds_ago:.0} s ago")
        }
    }
}

async fn check_workers(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    let live = match queue::live_workers(&mut *database).await {
        Ok(live) => live,
        Err(error) => return findings.fail(&format!("workers: {error}")),
    };
    for (queue, command) in [("sample", "retort-worker sample"), ("search", "retort-worker search")] {
        match live.iter().find(|live| live.queue == queue) {
            Some(LiveWorkers { processes, slots, .. }) => {
                findings.pass(&format!("workers: {processes} for {queue} jobs, {slots} at a time"))?;
            }
            None => findings.fail(&format!(
                "workers: no live one for {queue} jobs; start `{command}`, or read its log"
            ))?,
        }
    }
    match queue::operations::pauses(&mut *database).await {
        Ok(pauses) => {
            for (queue, QueuePause { since, by }) in pauses {
                let since = since.format("%Y-%m-%d %H:%M UTC");
                findings.fail(&format!(
                    "queue {}: paused by {by} since {since}; p in `retort top` resumes it",
                    queue::queue_label(&queue)
                ))?;
            }
        }
        Err(error) => findings.fail(&format!("queues: {error}"))?,
    }
    let models = queue::live_models(&mut *database, StoredSampleJob::QUEUE).await;
    match models {
        Ok(models) if models.is_empty() => findings.fail("models: no sampler has one loaded"),
        Ok(models) => {
            let ids: Vec<_> = models.into_iter().map(|model| model.model_id).collect();
            findings.pass(&format!("models: {}", ids.join(", ")))
        }
        Err(error) => findings.fail(&format!("models: {error}")),
    }
}

/// Checks that the server has enough connections for all live processes.
async fn check_connections(findings: &mut Findings, database: &mut PgConnection) -> Result<(), Failure> {
    match queue::connection_usage(database).await {
        Ok(usage) if usage.fits() => findings.pass(&format!("connections: {usage}")),
        Ok(usage) => findings.fail(&format!("connections: {usage}")),
        Err(error) => findings.fail(&format!("connections: {error}")),
    }
}

async fn check_service(findings: &mut Findings, installation: &InstallationArgs) -> Result<(), Failure> {
    let service = installation.service()?;
    match service.probe("/readyz").await {
        Ok((status, _)) if status.is_success() => {
            findings.pass(&format!("service: {} is ready", service.base()))?
        }
        Ok((status, body)) => {
            findings.fail(&format!(
                "service: {} is not ready ({status}): {}",
                service.base(),
                body.trim()
            ))?;
        }
        Err(failure) => return findings.fail(&format!("service: {failure}")),
    }
    match (installation.data().credentials(), service.access_token().await) {
        (_, Ok(_)) => findings.pass("login: there is a valid token"),
        // An installation need not have a login.
        (Ok(None), _) => findings.pass("login: not logged in"),
        (_, Err(failure)) => findings.fail(&format!("login: {failure}")),
    }
}
