//! Settings of the operator, by flag or environment variable.

use std::{
    env::temp_dir, num::NonZeroUsize, ops::RangeInclusive, path::PathBuf, thread::available_parallelism,
    time::Duration,
};

use ::catalogue::SnapshotFolder;
use clap::{Parser, Subcommand, builder::RangedU64ValueParser, value_parser};
use generator::DeviceChoice;
use queue::WorkerConfig;
use synth::Algorithm;

use crate::{
    catalogue::SnapshotLocations,
    store::{SnapshotStore, StoreError},
};

/// Upper limit of slots. No machine has that many cores, and each slot holds a database connection.
const MAX_SLOTS: u64 = 1024;
/// Upper limit of threads. No machine has that many cores.
const MAX_THREADS: u64 = 1024;
/// Upper limit of molecules kept for one model; these take some gigabytes.
const MAX_RESERVOIR_SIZE: u64 = 100_000_000;
/// Upper limit of makeable molecules kept for one model; their searches take days.
const MAX_MAKEABLE_RESERVOIR_SIZE: u64 = 1_000_000;
/// One hour, in seconds. After a longer grace period, a stopping process would seem to hang.
const MAX_GRACE_SECONDS: u64 = 3600;
/// Seconds, from one minute to one year. The lower bound keeps an outcome until its caller has read it.
const KEEP_FINISHED_RANGE: RangeInclusive<u64> = 60..=365 * 24 * 3600;

/// The worker process of Retort.
#[derive(Debug, Parser)]
#[command(name = "retort-worker", version)]
pub struct WorkerSettings {
    /// Role of this process.
    #[command(subcommand)]
    pub role: Role,

    /// PostgreSQL database to work for.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true)]
    pub database_url: Option<String>,

    /// Address of the same database without a pooler, for work that needs a session [default: DATABASE_URL].
    #[arg(long, env = "DATABASE_DIRECT_URL", hide_env_values = true, global = true)]
    pub database_direct_url: Option<String>,

    /// Cores that this process computes on, and threads for everything else [default: the cores that affinity and
    /// control group allow].
    #[arg(long = "threads", env = "RETORT_THREADS", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MAX_THREADS), global = true)]
    pub threads: Option<usize>,

    /// Folders of model packs, one folder each, separated by colons.
    #[arg(long, env = "MODELS_DIR", value_delimiter = ':', default_value = "worker/models", global = true)]
    pub models_dir: Vec<PathBuf>,

    /// Folder of the retrosynthesis model [default: the first `uspto_retro` in the folders of model packs].
    #[arg(long, env = "RETRO_MODEL", global = true)]
    pub retro_model: Option<PathBuf>,

    /// Folder of the catalogue's snapshot, which the search workers of a machine share [default: `retort-USER` in the
    /// system's temporary folder].
    #[arg(long, env = "CATALOGUE_FOLDER", global = true)]
    pub catalogue_folder: Option<PathBuf>,

    /// Object store in which the machines of an installation share snapshots of the catalogue: file:///folder,
    /// s3://bucket/folder, gs://bucket/folder or az://container/folder. A cloud's credentials are in its own
    /// variables (`AWS_…`, `GOOGLE_…`, `AZURE_…`). [default: every machine makes its own snapshot]
    #[arg(long, env = "CATALOGUE_STORE", global = true)]
    pub catalogue_store: Option<String>,

    /// Generative models to load, separated by commas [default: all].
    #[arg(long, env = "SAMPLER_MODELS", value_delimiter = ',', global = true)]
    pub sampler_models: Vec<String>,

    /// Device that samplers compute on: `cpu`, `cuda:N` for the GPU number N, or `auto` for the first GPU if there is
    /// one. GPUs need a build with the feature `cuda`.
    #[arg(long, env = "RETORT_DEVICE", default_value_t, global = true)]
    pub device: DeviceChoice,

    /// Jobs run at the same time [default: 1 for samples, which use all cores; RETORT_THREADS for searches].
    #[arg(long, env = "WORKER_SLOTS", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MAX_SLOTS), global = true)]
    pub worker_slots: Option<usize>,

    /// Background searches run at the same time while no interactive search runs [default: RETORT_THREADS].
    #[arg(long, env = "PLAN_SLOTS", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MAX_SLOTS), global = true)]
    pub plan_slots: Option<usize>,

    /// Molecules kept ready for each generative model, made while there are no jobs; 0 keeps none.
    #[arg(long, env = "RESERVOIR_SIZE", value_parser = RangedU64ValueParser::<usize>::new().range(..=MAX_RESERVOIR_SIZE), default_value_t = 200_000, global = true)]
    pub reservoir_size: usize,

    /// Makeable molecules kept ready for each generative model, found by idle searchers among the ready molecules; 0
    /// keeps none.
    #[arg(long, env = "MAKEABLE_RESERVOIR_SIZE", value_parser = RangedU64ValueParser::<usize>::new().range(..=MAX_MAKEABLE_RESERVOIR_SIZE), default_value_t = 2_000, global = true)]
    pub makeable_reservoir_size: usize,

    /// Search algorithm, which chooses the molecules to expand: retro_star or breadth_first.
    #[arg(long, env = "SEARCH_ALGORITHM", default_value_t = Algorithm::default(), global = true)]
    pub search_algorithm: Algorithm,

    /// Cores that the searches of this process share [default: RETORT_THREADS].
    #[arg(long, env = "SEARCH_CORES", global = true)]
    pub search_cores: Option<NonZeroUsize>,

    /// MiB of expansions that searches share in a cache, in addition to the memory of each search; 0 keeps none.
    #[arg(long, env = "SEARCH_CACHE_MB", default_value_t = 256, global = true)]
    pub search_cache_mb: usize,

    /// MiB that one search may use, its answer included. A search at the limit answers with the routes found so far.
    /// Concurrent searches have this limit each.
    #[arg(long, env = "SEARCH_MEMORY_MB", default_value_t = 1024, global = true)]
    pub search_memory_mb: usize,

    /// Maximum number of connections to PostgreSQL that this process opens [default: what it needs].
    #[arg(long, env = "DATABASE_CONNECTIONS", value_parser = value_parser!(u32).range(1..=10_000), global = true)]
    pub database_connections: Option<u32>,

    /// Seconds that running jobs may continue after SIGTERM.
    #[arg(long, env = "WORKER_GRACE_SECONDS", value_parser = value_parser!(u64).range(..=MAX_GRACE_SECONDS), default_value_t = WorkerConfig::default().grace.as_secs(), global = true)]
    pub worker_grace_seconds: u64,

    /// Seconds that finished jobs are kept in the database. Their callers have to read the outcomes within this time.
    #[arg(long, env = "KEEP_FINISHED_SECONDS", value_parser = value_parser!(u64).range(KEEP_FINISHED_RANGE), default_value_t = WorkerConfig::default().keep_finished.as_secs(), global = true)]
    pub keep_finished_seconds: u64,
}

/// Role of a worker process.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Role {
    /// Draws samples.
    Sample,
    /// Searches for routes.
    Search,
    /// Runs one stored job without the queue and prints its outcome. A sample is printed but not stored.
    Replay {
        /// File with the job's JSON as it is stored.
        job: PathBuf,
    },
}

/// Folder name of the retrosynthesis model that ships.
const RETRO_MODEL: &str = "uspto_retro";

impl WorkerSettings {
    /// Returns the folder of the retrosynthesis model.
    #[must_use]
    pub fn retro_model(&self) -> PathBuf {
        self.retro_model.clone().unwrap_or_else(|| {
            let mut places = self.models_dir.iter().map(|dir| dir.join(RETRO_MODEL));
            let first = places.clone().next();
            places.find(|place| place.is_dir()).or(first).unwrap_or_else(|| RETRO_MODEL.into())
        })
    }

    /// Returns the name by which requests choose this engine: the name of the model's folder.
    #[must_use]
    pub fn engine(&self) -> String {
        let folder = self.retro_model();
        let folder = folder.canonicalize().unwrap_or(folder);
        folder.file_name().map_or_else(|| RETRO_MODEL.to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Returns the location of the catalogue's snapshots. The default folder name contains the user's id, since other
    /// users may share the temporary folder.
    ///
    /// # Errors
    /// Fails if the store's address is invalid.
    pub fn snapshots(&self) -> Result<SnapshotLocations, StoreError> {
        let user = rustix::process::geteuid().as_raw();
        let default = || temp_dir().join(format!("retort-{user}"));
        let folder =
            SnapshotFolder::new(self.catalogue_folder.clone().unwrap_or_else(default), self.threads().get());
        let store = self.catalogue_store.as_deref().filter(|url| !url.is_empty());
        Ok(SnapshotLocations { folder, store: store.map(SnapshotStore::at).transpose()? })
    }

    /// Returns the database's address and the address that bypasses the pooler, which is the same if none is set.
    /// `None` if no database is set.
    #[must_use]
    pub fn addresses(&self) -> Option<(&str, &str)> {
        let url = self.database_url.as_deref()?;
        Some((url, self.database_direct_url.as_deref().filter(|direct| !direct.is_empty()).unwrap_or(url)))
    }

    /// Returns the number of cores that the process computes on; all code in it uses this number.
    #[must_use]
    pub fn threads(&self) -> NonZeroUsize {
        let all = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.and_then(NonZeroUsize::new).unwrap_or_else(all)
    }

    /// Returns the number of jobs run at the same time.
    #[must_use]
    pub fn slots(&self) -> usize {
        let default = match self.role {
            Role::Search => self.threads().get(),
            Role::Sample | Role::Replay { .. } => 1,
        };
        self.worker_slots.unwrap_or(default)
    }

    /// Returns the number of background searches run at the same time.
    #[must_use]
    pub fn plan_slots(&self) -> usize {
        self.plan_slots.unwrap_or_else(|| self.threads().get())
    }

    /// Returns the algorithm and the resource limits of searches.
    #[must_use]
    pub fn search(&self) -> synth::PlannerSettings {
        synth::PlannerSettings {
            algorithm: self.search_algorithm,
            cache_bytes: self.search_cache_mb.saturating_mul(1 << 20),
            memory_bytes: self.search_memory_mb.saturating_mul(1 << 20),
            cores: self.search_cores.unwrap_or_else(|| self.threads()).get(),
        }
    }

    /// Returns the time that running jobs may continue after SIGTERM.
    #[must_use]
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.worker_grace_seconds)
    }

    /// Returns the time that finished jobs are kept.
    #[must_use]
    pub fn keep_finished(&self) -> Duration {
        Duration::from_secs(self.keep_finished_seconds)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::{Arg, CommandFactory};

    use super::*;

    fn variable(argument: &Arg) -> Option<String> {
        Some(argument.get_env()?.to_str()?.to_owned())
    }

    #[test]
    fn the_settings_page_has_the_workers_names_defaults_and_ranges() {
        let page: BTreeMap<_, _> = repository::settings()
            .into_iter()
            .filter(|row| ["Workers", "API and workers"].contains(&&*row.section))
            .map(|row| (row.name.clone(), row))
            .collect();
        let command = WorkerSettings::command();
        let arguments: Vec<_> =
            command.get_arguments().filter_map(|argument| Some((variable(argument)?, argument))).collect();

        for (name, argument) in &arguments {
            let row = page.get(name).unwrap_or_else(|| panic!("{name} is missing"));
            // The API's number of connections is another; the page explains both.
            if name == "DATABASE_CONNECTIONS" {
                continue;
            }
            let default = argument.get_default_values().first().and_then(|value| value.to_str());
            assert_eq!(row.default().as_deref(), default, "{name}");
            let flag = format!("--{}", argument.get_long().unwrap());
            let parsed =
                |value: &str| WorkerSettings::try_parse_from(["retort-worker", "search", &flag, value]);
            let (allowed, excluded) = row.examples();
            assert!(allowed.iter().all(|value| parsed(value).is_ok()), "{name}: {allowed:?}");
            assert!(excluded.iter().all(|value| parsed(value).is_err()), "{name}: {excluded:?}");
        }
        let of_workers = page.values().filter(|row| row.section == "Workers").map(|row| &row.name);
        let unknown: Vec<_> = of_workers
            .filter(|name| !name.contains('…') && !arguments.iter().any(|(read, _)| read == *name))
            .collect();
        assert_eq!(unknown, Vec::<&String>::new());
    }

    #[test]
    fn the_retro_model_lies_among_the_packs_unless_it_is_set() {
        let settings = WorkerSettings::parse_from(["retort-worker", "search", "--models-dir", "/packs:/own"]);

        assert_eq!(settings.retro_model(), PathBuf::from("/packs/uspto_retro"));
    }

    #[test]
    fn a_sampler_runs_one_job_at_a_time_by_default() {
        let one = WorkerSettings::parse_from(["retort-worker", "sample"]);
        let four = WorkerSettings::parse_from(["retort-worker", "sample", "--worker-slots", "4"]);

        assert_eq!((one.slots(), four.slots()), (1, 4));
    }

    #[test]
    fn threads_are_what_searches_share_and_their_slots_unless_these_are_set_themselves() {
        let parsed = |flags: &[&str]| {
            WorkerSettings::parse_from(["retort-worker", "search"].iter().chain(flags).copied())
        };
        let shared =
            |settings: WorkerSettings| (settings.threads().get(), settings.slots(), settings.search().cores);

        let three = parsed(&["--threads", "3"]);
        let own = parsed(&["--threads", "3", "--worker-slots", "5", "--search-cores", "2"]);

        assert_eq!((shared(three), shared(own)), ((3, 3, 3), (3, 5, 2)));
        assert_eq!(parsed(&[]).threads(), available_parallelism().unwrap());
    }

    #[test]
    fn times_and_sizes_are_refused_that_cannot_be_meant() {
        let refused = [
            ["--worker-slots", "0"],
            ["--worker-slots", "100000"],
            ["--threads", "0"],
            ["--threads", "100000"],
            ["--reservoir-size", "200000000000"],
            ["--makeable-reservoir-size", "1000001"],
            ["--worker-grace-seconds", "86400"],
            ["--keep-finished-seconds", "0"],
            ["--keep-finished-seconds", "18446744073709551615"],
        ];

        for [flag, value] in refused {
            let error = WorkerSettings::try_parse_from(["retort-worker", "sample", flag, value]).unwrap_err();
            assert!(error.to_string().contains(&format!("invalid value '{value}' for '{flag}")), "{error}");
        }
        let none = ["--reservoir-size", "0", "--worker-grace-seconds", "0", "--keep-finished-seconds", "60"];
        assert!(WorkerSettings::try_parse_from(["retort-worker", "sample"].into_iter().chain(none)).is_ok());
    }

    #[test]
    fn a_device_is_refused_that_is_none() {
        let parsed = |device| WorkerSettings::try_parse_from(["retort-worker", "sample", "--device", device]);

        assert_eq!(parsed("cuda:1").unwrap().device, DeviceChoice::Cuda(1));
        let error = parsed("gpu").unwrap_err().to_string();
        assert!(error.contains("`gpu` is not a device: wanted `auto`, `cpu` or `cuda:N`"), "{error}");
    }

    #[test]
    fn a_time_that_would_be_none_or_for_ever_is_refused_by_its_name() {
        for (flag, value) in [
            ("--keep-finished-seconds", "0"),
            ("--keep-finished-seconds", "99999999999"),
            ("--worker-grace-seconds", "99999999999"),
            ("--database-connections", "0"),
        ] {
            let error = WorkerSettings::try_parse_from(["retort-worker", "sample", flag, value]).unwrap_err();

            let variable = flag.trim_start_matches('-').replace('-', "_").to_uppercase();
            assert!(error.to_string().contains(&variable), "{error}");
        }
    }

    #[test]
    fn searches_are_set_by_name_and_in_mebibytes() {
        let settings = WorkerSettings::parse_from([
            "retort-worker",
            "search",
            "--search-algorithm",
            "breadth_first",
            "--search-cache-mb",
            "3",
            "--search-cores",
            "2",
        ]);

        let search = settings.search();

        assert_eq!(
            (search.algorithm, search.cache_bytes, search.cores),
            (Algorithm::BreadthFirst, 3 << 20, 2)
        );
    }

    #[test]
    fn an_unknown_algorithm_is_refused_by_its_name() {
        let wrong =
            WorkerSettings::try_parse_from(["retort-worker", "search", "--search-algorithm", "dowsing"]);

        assert!(wrong.unwrap_err().to_string().contains("`dowsing`"));
    }
}
