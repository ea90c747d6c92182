//! Snapshots of the catalogue in an object store, which the machines of an installation share.
//!
//! The machine that makes a snapshot uploads it under its name. Other machines that need this version download it
//! instead of making it. The store is optional: a snapshot that is missing or damaged there is made from PostgreSQL.
//! Objects are trusted if their checksums match, so only the service should have write access to the store.

use std::{
    fmt,
    fs::File,
    future::Future,
    io::{self, Read as _, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use catalogue::{SnapshotContent, name_prefix, version_in_name};
use futures::TryStreamExt as _;
use object_store::{ObjectStore, ObjectStoreExt as _, WriteMultipart, parse_url_opts, path::Path as Name};
use tokio::time::{error::Elapsed, timeout};
use url::Url;

/// Timeout for a response of the store.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for the next part of a download or upload.
const PART_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of one upload part; S3 accepts up to 10,000 parts.
const PART_BYTES: usize = 16 << 20;

/// Parts uploaded at the same time.
const MAX_CONCURRENT_PARTS: usize = 4;

/// Prefixes of the environment variables in which the clouds' own tools keep addresses and credentials.
const CLOUD_VARIABLE_PREFIXES: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

/// An object store.
#[derive(Clone)]
pub struct SnapshotStore {
    objects: Arc<dyn ObjectStore>,
    /// Prefix of all objects.
    folder: Name,
    /// Address as in the settings, without credentials.
    address: String,
}

/// Error of an object store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address is not that of an object store.
    #[error("not an address of an object store (file:///…, s3://…, gs://…, az://…): {0}")]
    Address(String),
    /// The store refuses the request or cannot be reached.
    #[error("{0}")]
    Store(#[from] object_store::Error),
    /// The store does not answer in time.
    #[error("it does not answer")]
    Silent(#[from] Elapsed),
    /// The local file cannot be read or written.
    #[error("{0}")]
    File(#[from] io::Error),
}

impl fmt::Debug for SnapshotStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Store").field(&self.address).finish()
    }
}

impl fmt::Display for SnapshotStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.address)
    }
}

impl SnapshotStore {
    /// Opens the store at a URL: `file:///folder`, `s3://bucket/folder`, `gs://bucket/folder` or
    /// `az://container/folder`. Credentials and the like come from the environment, under the names that the clouds'
    /// own tools use (`AWS_…`, `GOOGLE_…`, `AZURE_…`).
    ///
    /// # Errors
    /// Fails if the URL is not of this form, or if the environment lacks a setting that the store needs.
    pub fn at(url: &str) -> Result<Self, StoreError> {
        let cloud = |(name, value): (String, String)| {
            CLOUD_VARIABLE_PREFIXES
                .iter()
                .any(|cloud| name.starts_with(cloud))
                .then(|| (name.to_lowercase(), value))
        };
        // A snapshot may be gigabytes, hence the long timeout; `PART_TIMEOUT` catches a stalled transfer.
        let own = [("timeout", "1 hour"), ("connect_timeout", "5 seconds")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self::with(url, own.into_iter().chain(std::env::vars().filter_map(cloud)))
    }

    /// Opens the store with these options of the crate `object_store`.
    ///
    /// # Errors
    /// Fails as [`Self::at`] does.
    pub fn with(url: &str, options: impl IntoIterator<Item = (String, String)>) -> Result<Self, StoreError> {
        let url: Url =
            url.parse().map_err(|error: url::ParseError| StoreError::Address(error.to_string()))?;
        // reqwest has no cryptography provider of its own. Installing a second one fails, but it is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (objects, folder) =
            parse_url_opts(&url, options).map_err(|error| StoreError::Address(error.to_string()))?;
        let host = url.host_str().unwrap_or_default();
        let address = format!("{}://{host}{}", url.scheme(), url.path());
        Ok(Self { objects: objects.into(), folder, address })
    }

    /// Downloads the snapshot of this content to a file and returns true if the store has it. The reader of the file
    /// checks its integrity.
    ///
    /// # Errors
    /// Fails if the store cannot be read or the file cannot be written.
    pub async fn fetch(&self, content: &SnapshotContent, to: &Path) -> Result<bool, StoreError> {
        let found =
            match timeout(RESPONSE_TIMEOUT, self.objects.get(&self.name(&content.file_name()))).await? {
                Ok(found) => found,
                Err(object_store::Error::NotFound { .. }) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
        let mut file = File::create(to)?;
        let mut parts = found.into_stream();
        while let Some(part) = within(PART_TIMEOUT, parts.try_next()).await? {
            file.write_all(&part)?;
        }
        file.sync_all()?;
        Ok(true)
    }

    /// Uploads a snapshot and deletes those older than its predecessor, which a machine that does not know the new
    /// version yet may still request. The new object is visible only when complete.
    ///
    /// # Errors
    /// Fails if the file cannot be read or the store cannot be written.
    pub async fn put(&self, content: &SnapshotContent, mut from: File) -> Result<(), StoreError> {
        let name = self.name(&content.file_name());
        let upload = within(RESPONSE_TIMEOUT, self.objects.put_multipart(&name)).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        loop {
            let mut part = Vec::with_capacity(PART_BYTES);
            if (&mut from).take(PART_BYTES as u64).read_to_end(&mut part)? == 0 {
                break;
            }
            within(PART_TIMEOUT, upload.wait_for_capacity(MAX_CONCURRENT_PARTS)).await?;
            upload.put(part.into());
        }
        within(PART_TIMEOUT * MAX_CONCURRENT_PARTS as u32, upload.finish()).await?;
        self.remove_older(content).await
    }

    async fn remove_older(&self, content: &SnapshotContent) -> Result<(), StoreError> {
        let listed = self.objects.list(Some(&self.folder)).try_collect::<Vec<_>>();
        let names = within(PART_TIMEOUT, listed).await?;
        let of_database = name_prefix(content.database);
        let versions: Vec<(Name, i64)> = names
            .into_iter()
            .filter_map(|object| {
                let name = object.location.filename()?;
                let version = version_in_name(name).filter(|_| name.starts_with(&of_database))?;
                Some((object.location, version))
            })
            .collect();
        let older = |version: &i64| *version < content.version;
        let Some(before) = versions.iter().map(|(_, version)| *version).filter(older).max() else {
            return Ok(());
        };
        for (name, _) in versions.into_iter().filter(|&(_, version)| version < before) {
            within(RESPONSE_TIMEOUT, self.objects.delete(&name)).await?;
        }
        Ok(())
    }

    fn name(&self, file: &str) -> Name {
        self.folder.clone().join(file)
    }
}

async fn within<T>(
    time: Duration,
    asked: impl Future<Output = object_store::Result<T>>,
) -> Result<T, StoreError> {
    Ok(timeout(time, asked).await??)
}
