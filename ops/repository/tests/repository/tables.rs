//! Ownership of tables: every table has one file that writes it and a known set of readers, so that a change to a
//! table finds all its statements.

use std::collections::{BTreeMap, BTreeSet};

use repository::{files, text};

/// A table, the files that write it, and its other readers: joins and conditions in other files, and processes that
/// do not link the owner.
struct Table {
    name: &'static str,
    owners: &'static [&'static str],
    readers: &'static [&'static str],
}

const fn table(
    name: &'static str,
    owners: &'static [&'static str],
    readers: &'static [&'static str],
) -> Table {
    Table { name, owners, readers }
}

const CLOCK: &str = "api/database/src/clock.rs";
const ACCOUNTS: &str = "api/identity/src/tables/accounts.rs";
const APPLICATIONS: &str = "api/identity/src/tables/applications.rs";
const BROWSERS: &str = "api/identity/src/tables/browsers.rs";
const CODES: &str = "api/identity/src/tables/codes.rs";
const CONSENTS: &str = "api/identity/src/tables/consents.rs";
const DEVICES: &str = "api/identity/src/tables/device_codes.rs";
const LINKS: &str = "api/identity/src/tables/login_links.rs";
const ORGANISATIONS: &str = "api/identity/src/tables/organisations.rs";
const RATE_LIMITS: &str = "api/identity/src/tables/rate_limits.rs";
const REFRESH: &str = "api/identity/src/tables/refresh_tokens.rs";
const REVOCATIONS: &str = "api/identity/src/tables/revocations.rs";
const SCRIPT_TOKENS: &str = "api/identity/src/tables/script_tokens.rs";
const SESSIONS: &str = "api/identity/src/tables/sessions.rs";
const KEYS: &str = "api/identity/src/tables/signing_keys.rs";
const BATCHES: &str = "api/src/endpoints/batches/table.rs";
const ENGINES: &str = "api/src/endpoints/engines.rs";
const KEPT_ROUTES: &str = "api/src/endpoints/kept_routes/table.rs";
const PLANS: &str = "api/src/endpoints/plans/table.rs";
const PLAN_RESULTS: &str = "worker/src/plans.rs";
const ADMIT: &str = "api/queue/src/admit.sql";
const CLAIM: &str = "api/queue/src/claim.sql";
const EVENTS: &str = "api/queue/src/events.rs";
const RETENTION: &str = "api/queue/src/retention.rs";
const OPERATE: &str = "api/queue/src/operations.rs";
const QUEUE: &str = "api/queue/src/store.rs";
const PRESENCE: &str = "api/queue/src/liveness.rs";
const OPERATIONS: &str = "api/src/endpoints/operations/state_view.rs";
const MODELS: &str = "api/src/endpoints/models.rs";
const SAMPLES: &str = "api/src/endpoints/samples/table.rs";
const COMMON: &str = "worker/catalogue_tables/src/common.rs";
const DIFFERENCE: &str = "worker/catalogue_tables/src/difference.rs";
const EXPORT: &str = "worker/catalogue_tables/src/export.rs";
const LOAD: &str = "worker/catalogue_tables/src/load.rs";
const CATALOGUE_QUERIES: &str = "worker/catalogue_tables/src/query.rs";
const VENDORS: &str = "worker/catalogue_tables/src/vendors.rs";
const VERIFY: &str = "worker/catalogue_tables/src/verify.rs";
const STRUCTURE_CHANGES: &str = "worker/catalogue_tables/src/structure_changes.rs";
const AUDIT_LOG: &str = "api/identity/src/tables/audit_log.rs";
const EXPIRED_ROWS: &str = "api/src/retention.rs";
const BUDGET: &str = "api/queue/src/connection_usage.rs";
const STREAMS: &str = "api/src/streams/open.rs";
const SNAPSHOT_ROWS: &str = "worker/catalogue_tables/src/snapshot_rows.rs";
const OFFERS: &str = "worker/catalogue_tables/src/offers.rs";
const RESTORE: &str = "ops/src/backup/restore.rs";
const RESERVOIR: &str = "worker/src/reservoir.rs";
const MAKEABLE_RESERVOIR: &str = "worker/src/makeable_reservoir.rs";
const SAMPLE_RESULTS: &str = "worker/src/samples.rs";

const ASYNC_SAMPLE_RESULTS: &str = "worker/src/async_samples.rs";
const ASYNC_SAMPLES: &str = "api/src/endpoints/samples/async_samples.rs";
const QUOTA: &str = "api/src/quota.rs";
const IDEMPOTENCY: &str = "api/src/idempotency.rs";
const SAMPLE_BATCHES: &str = "api/src/endpoints/sample_batches/table.rs";

const TABLES: [Table; 50] = [
    table("account_rations", &[ACCOUNTS], &[]),
    // Maintained by triggers only.
    table("account_storage", &[], &[]),
    // A login older than the account's last change is invalid, so everything that comes from a login checks it.
    table(
        "accounts",
        &[ACCOUNTS],
        &[
            BROWSERS,
            CODES,
            DEVICES,
            LINKS,
            PLAN_RESULTS,
            ASYNC_SAMPLE_RESULTS,
            ORGANISATIONS,
            REFRESH,
            SCRIPT_TOKENS,
            SESSIONS,
        ],
    ),
    table("apalis.jobs", &[ADMIT, OPERATE, QUEUE], &[CLAIM, PRESENCE]),
    table("apalis.workers", &[PRESENCE], &[]),
    table("applications", &[APPLICATIONS], &[DEVICES]),
    table("authorization_codes", &[CODES], &[]),
    // Maintained by triggers only.
    table("batch_progress", &[], &[BATCHES, QUOTA]),
    // The API stores them; a search worker records when each of their plans has its job. A restore resumes them.
    table("batches", &[BATCHES, PLAN_RESULTS, RESTORE], &[PLANS, QUOTA]),
    table("browser_sessions", &[SESSIONS], &[]),
    table(
        "building_blocks",
        &[COMMON, LOAD, VENDORS, VERIFY],
        &[SNAPSHOT_ROWS, CATALOGUE_QUERIES, OFFERS, STRUCTURE_CHANGES],
    ),
    table("catalogue_version", &[LOAD], &[SNAPSHOT_ROWS, OPERATIONS]),
    table("consents", &[CONSENTS], &[]),
    table("device_codes", &[DEVICES], &[]),
    table("idempotency_keys", &[IDEMPOTENCY], &[]),
    table("job_events", &[EVENTS], &[]),
    // Operators' actions on a job differ from its normal life cycle and are in another file.
    table("jobs", &[ADMIT, CLAIM, OPERATE, PRESENCE, QUEUE], &[EVENTS]),
    // Written by operators; the service deletes old rows.
    table("journal", &[AUDIT_LOG, EXPIRED_ROWS], &[]),
    table("kept_routes", &[KEPT_ROUTES], &[QUOTA]),
    table("known_browsers", &[BROWSERS], &[]),
    table("live_callers", &[PRESENCE], &[BUDGET]),
    table("live_models", &[PRESENCE], &[ADMIT, CLAIM, OPERATE]),
    table("live_workers", &[PRESENCE], &[ADMIT, BUDGET, CLAIM, OPERATE]),
    table("login_links", &[LINKS], &[]),
    table("makeable_molecules", &[MAKEABLE_RESERVOIR], &[]),
    table(
        "offers",
        &[COMMON, LOAD, VENDORS, STRUCTURE_CHANGES],
        &[SNAPSHOT_ROWS, DIFFERENCE, EXPORT, CATALOGUE_QUERIES, OFFERS, VERIFY],
    ),
    // Written by imports; the service deletes old rows.
    table("offer_prices", &[LOAD, EXPIRED_ROWS], &[CATALOGUE_QUERIES]),
    table("open_streams", &[STREAMS], &[]),
    table("organisations", &[ORGANISATIONS], &[ACCOUNTS]),
    // Checked wherever jobs are claimed or taken.
    table("paused_queues", &[OPERATE], &[ADMIT, CLAIM, QUEUE]),
    // Stored by the API on request, completed by the search worker.
    table("plans", &[PLAN_RESULTS, PLANS, RESTORE], &[BATCHES, ENGINES, QUOTA]),
    table("queue_turns", &[PRESENCE], &[]),
    table("rate_limits", &[RATE_LIMITS], &[]),
    table("refresh_tokens", &[REFRESH], &[]),
    table("reservoir_blocks", &[RESERVOIR], &[MODELS]),
    table("reservoir_models", &[RESERVOIR], &[MODELS]),
    table("retention", &[RETENTION], &[]),
    table("revocations", &[REVOCATIONS], &[REFRESH]),
    // The API stores them; a sampling worker records when each of their chunks has its job.
    table("sample_batches", &[ASYNC_SAMPLE_RESULTS, SAMPLE_BATCHES, RESTORE], &[ASYNC_SAMPLES]),
    table("sample_claims", &[ASYNC_SAMPLE_RESULTS], &[]),
    // Stored by the API on request, completed by the sampling worker.
    table(
        "sample_orders",
        &[ASYNC_SAMPLE_RESULTS, ASYNC_SAMPLES, RESTORE],
        // The sampler finds the samples of a batch that a request excludes.
        &[QUOTA, SAMPLE_BATCHES, SAMPLES, SAMPLE_RESULTS],
    ),
    // A worker creates a sample. The API shows and deletes it; a batch's sample is deleted in one statement with its
    // asynchronous sample. Neither process links the other.
    table("samples", &[SAMPLE_RESULTS, ASYNC_SAMPLES, SAMPLES], &[]),
    // Written only by its migration, and read by a statement of `script_tokens.rs` that this scan does not find.
    table("script_token_mark", &[], &[]),
    table("script_tokens", &[SCRIPT_TOKENS], &[]),
    table("signing_keys", &[KEYS], &[]),
    table("sweep_clock", &[CLOCK], &[]),
    table("vendor_organisations", &[VENDORS], &[]),
    table("vendor_preferences", &[VENDORS], &[]),
    table(
        "vendors",
        &[COMMON, LOAD, VENDORS],
        &[SNAPSHOT_ROWS, DIFFERENCE, ENGINES, EXPORT, CATALOGUE_QUERIES, OFFERS, STRUCTURE_CHANGES],
    ),
    // A worker that holds a job checks whether a client subscribes to it.
    table("watched_jobs", &[EVENTS], &[QUEUE]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Reads,
    Writes,
}

/// Words of a source, without comments and tests.
fn words(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().map(|line| line.split("//").next().unwrap().split("-- ").next().unwrap());
    lines.flat_map(str::split_whitespace).filter(|word| *word != "\\").map(str::to_owned).collect()
}

/// Tables that the statements among `words` read or write.
fn uses(words: &[String]) -> BTreeSet<(String, Use)> {
    let mut found = BTreeSet::new();
    let mut before = "";
    for pair in words.windows(2) {
        // A statement begins after a quotation mark or a bracket, and punctuation may follow a name.
        let verb = pair[0].rsplit(['"', '(']).next().unwrap();
        let name = pair[1].trim_end_matches(|letter: char| !letter.is_ascii_lowercase());
        let use_ = match verb {
            "from" if before == "delete" => Some(Use::Writes),
            "into" | "update" => Some(Use::Writes),
            "from" | "join" | "using" => Some(Use::Reads),
            _ => None,
        };
        found.extend(use_.map(|use_| (name.to_owned(), use_)));
        before = verb;
    }
    found
}

/// All sources that may hold SQL, without files of tests.
fn sources() -> impl Iterator<Item = String> {
    let sources = ["api", "ops", "worker"].into_iter().flat_map(files);
    let sources = sources.filter(|file| file.contains("/src/") && !file.ends_with("/tests.rs"));
    sources.filter(|file| file.ends_with(".rs") || file.ends_with(".sql"))
}

/// Files that use the table called `name` in the given way.
fn users(uses: &BTreeMap<String, BTreeSet<(String, Use)>>, name: &str, use_: Use) -> BTreeSet<String> {
    let is_it = |(other, how): &(String, Use)| other == name && *how == use_;
    uses.iter().filter(|(_, used)| used.iter().any(is_it)).map(|(file, _)| file.clone()).collect()
}

#[test]
fn a_table_is_written_by_its_owner_and_read_by_those_who_are_known() {
    let uses: BTreeMap<_, _> = sources().map(|file| (file.clone(), uses(&words(&text(&file))))).collect();

    for Table { name, owners, readers } in TABLES {
        let set = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(users(&uses, name, Use::Writes), set(owners), "who writes `{name}`");

        let read_by = &users(&uses, name, Use::Reads) - &set(owners);
        assert_eq!(read_by, set(readers), "who reads `{name}` beside its owner");
    }
}

#[test]
fn every_table_of_the_migrations_has_an_owner() {
    for migration in files("migrations") {
        let words = words(&text(&migration));
        for made in words
            .windows(3)
            .filter(|three| !["alter", "new", "old"].contains(&three[0].as_str()) && three[1] == "table")
        {
            assert!(TABLES.iter().any(|table| table.name == made[2]), "who owns `{}`?", made[2]);
        }
    }
}

#[test]
fn statements_are_found_in_every_kind_of_string() {
    let text = r##"
        query!("delete from jobs where id = $1", id); // into nothing
        query!(r#"select exists (select from jobs) as "is!" from workers, b"#);
        query!("update samples set a = 1 \
                from blocks");
        let no = String::from(text);
        #[cfg(test)] "insert into tests"
    "##;

    let found = uses(&words(text));

    let expected = [
        ("blocks", Use::Reads),
        ("jobs", Use::Reads),
        ("jobs", Use::Writes),
        ("samples", Use::Writes),
        ("workers", Use::Reads),
    ];
    assert_eq!(found, expected.map(|(name, use_)| (name.to_owned(), use_)).into());
}
