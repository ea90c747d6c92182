//! Snapshots of the catalogue in an object store, where the machines of an installation leave them for each other.
//!
//! Whoever makes a snapshot puts it there under its name, and whoever needs that version fetches it instead of making it. Nothing
//! depends on the store: what it does not have, or has damaged, is made of what PostgreSQL holds. Its objects are trusted as far as
//! their checksums go, so nobody but the service should be able to write to it.

use std::{
    fmt,
    fs::File,
    future::Future,
    io::{self, Read as _, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use catalogue::{Content, names_of, version_of};
use futures::TryStreamExt as _;
use object_store::{ObjectStore, ObjectStoreExt as _, WriteMultipart, parse_url_opts, path::Path as Name};
use tokio::time::{error::Elapsed, timeout};
use url::Url;

/// How long the store may take to answer a question.
const ANSWER: Duration = Duration::from_secs(10);

/// How long it may take to go on sending, or to take a part.
const PART: Duration = Duration::from_secs(60);

/// Bytes that are sent together; S3 takes 10,000 of them.
const PART_BYTES: usize = 16 << 20;

/// Parts that are on their way at once.
const PARTS: usize = 4;

/// Variables of the environment in which clouds' own tools keep addresses and credentials.
const CLOUDS: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

/// An object store.
#[derive(Clone)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    /// Under which everything lies.
    folder: Name,
    /// As the settings say it, without credentials.
    address: String,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address is none of a store.
    #[error("no address of an object store (file:///…, s3://…, gs://…, az://…): {0}")]
    Address(String),
    /// The store refuses, or cannot be reached.
    #[error("{0}")]
    Store(#[from] object_store::Error),
    /// It does not answer in time.
    #[error("it does not answer")]
    Silent(#[from] Elapsed),
    /// The local file cannot be read or written.
    #[error("{0}")]
    File(#[from] io::Error),
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Store").field(&self.address).finish()
    }
}

impl fmt::Display for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.address)
    }
}

impl Store {
    /// The store at a URL: `file:///folder`, `s3://bucket/folder`, `gs://bucket/folder`, `az://container/folder`. Credentials and
    /// the like are in the environment, by the names that the clouds' own tools use (`AWS_…`, `GOOGLE_…`, `AZURE_…`).
    ///
    /// # Errors
    /// Fails where it is no such URL, or where the store needs something that the environment does not say.
    pub fn at(url: &str) -> Result<Self, StoreError> {
        let cloud = |(name, value): (String, String)| {
            CLOUDS.iter().any(|cloud| name.starts_with(cloud)).then(|| (name.to_lowercase(), value))
        };
        // A snapshot may be gigabytes; what does not go on is noticed here.
        let own = [("timeout", "1 hour"), ("connect_timeout", "5 seconds")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self::with(url, own.into_iter().chain(std::env::vars().filter_map(cloud)))
    }

    /// The same with these options of the crate `object_store`.
    ///
    /// # Errors
    /// Fails as [`Self::at`] does.
    pub fn with(url: &str, options: impl IntoIterator<Item = (String, String)>) -> Result<Self, StoreError> {
        let url: Url =
            url.parse().map_err(|error: url::ParseError| StoreError::Address(error.to_string()))?;
        // reqwest brings no cryptography of its own; a second one is refused, and is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (objects, folder) =
            parse_url_opts(&url, options).map_err(|error| StoreError::Address(error.to_string()))?;
        let host = url.host_str().unwrap_or_default();
        let address = format!("{}://{host}{}", url.scheme(), url.path());
        Ok(Self { objects: objects.into(), folder, address })
    }

    /// Writes the snapshot of this content to a file, if the store has it; whether it is sound is for its reader to see.
    ///
    /// # Errors
    /// Fails where the store cannot be read, or the file not be written.
    pub async fn fetch(&self, content: &Content, to: &Path) -> Result<bool, StoreError> {
        let found = match timeout(ANSWER, self.objects.get(&self.name(&content.file_name()))).await? {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let mut file = File::create(to)?;
        let mut parts = found.into_stream();
        while let Some(part) = within(PART, parts.try_next()).await? {
            file.write_all(&part)?;
        }
        file.sync_all()?;
        Ok(true)
    }

    /// Puts a snapshot there, and removes what is older than the one before it: a machine that has not heard of this one yet may still
    /// ask for that. Until all of it is there nobody sees any of it.
    ///
    /// # Errors
    /// Fails where the file cannot be read, or the store not be written.
    pub async fn put(&self, content: &Content, mut from: File) -> Result<(), StoreError> {
        let name = self.name(&content.file_name());
        let upload = within(ANSWER, self.objects.put_multipart(&name)).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        loop {
            let mut part = Vec::with_capacity(PART_BYTES);
            if (&mut from).take(PART_BYTES as u64).read_to_end(&mut part)? == 0 {
                break;
            }
            within(PART, upload.wait_for_capacity(PARTS)).await?;
            upload.put(part.into());
        }
        within(PART * PARTS as u32, upload.finish()).await?;
        self.remove_older(content).await
    }

    async fn remove_older(&self, content: &Content) -> Result<(), StoreError> {
        let listed = self.objects.list(Some(&self.folder)).try_collect::<Vec<_>>();
        let names = within(PART, listed).await?;
        let of_database = names_of(content.database);
        let versions: Vec<(Name, i64)> = names
            .into_iter()
            .filter_map(|object| {
                let name = object.location.filename()?;
                let version = version_of(name).filter(|_| name.starts_with(&of_database))?;
                Some((object.location, version))
            })
            .collect();
        let older = |version: &i64| *version < content.version;
        let Some(before) = versions.iter().map(|(_, version)| *version).filter(older).max() else {
            return Ok(());
        };
        for (name, _) in versions.into_iter().filter(|&(_, version)| version < before) {
            within(ANSWER, self.objects.delete(&name)).await?;
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
