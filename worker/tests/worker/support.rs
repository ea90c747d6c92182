//! A database, tiny models and a small stock for the tests of the worker.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

use std::{collections::HashMap, fs, io::Write, num::NonZeroUsize, path::Path, time::Duration};

use candle_core::{DType, Device, Tensor};
use chem::Molecule;
use flate2::{Compression, write::GzEncoder};
use queue::{Client, JobCaller};
use sqlx::PgPool;
use tempfile::TempDir;
pub use test_support::TestDatabase;
use worker::ComputeDevice;

/// Machine that test samplers compute on.
pub const MACHINE: ComputeDevice =
    ComputeDevice { device: Device::Cpu, threads: NonZeroUsize::new(2).unwrap() };

/// A caller with a timeout of half a minute.
pub const CALLER: JobCaller<'_> =
    JobCaller { account_id: "acc_1", timeout: Duration::from_secs(30), max_in_flight: None };

/// Template of an amide from its acid and amine.
const AMIDE: &str = "([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[NH;D2;+0:4]-[C:5])\
                     >>(O-[C;H0;D3;+0:2](-[C:1])=[O;D1;H0:3]).([C:5]-[NH2;D1;+0:4])";

/// Writes a pack whose strings are chains of C, N and O of at most `longest` atoms, all equally likely.
pub fn write_pack(dir: &Path, id: &str, relative_cost: f64, longest: usize) {
    let folder = dir.join(id);
    fs::create_dir(&folder).unwrap();
    let tokens = ["<pad>", "<bos>", "<eos>", "C", "N", "O"];
    let (vocabulary, hidden) = (tokens.len(), 2);
    let write =
        |file: &str, value: serde_json::Value| fs::write(folder.join(file), value.to_string()).unwrap();
    write(
        "config.json",
        serde_json::json!({
            "model_type": "smiles_gru", "vocab_size": vocabulary, "embedding_size": hidden,
            "hidden_size": hidden, "num_layers": 1, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        }),
    );
    let limits = serde_json::json!({"temperature": 1.0, "top_p": 1.0, "max_length": longest + 2});
    write("generation_config.json", limits);
    write(
        "metadata.json",
        serde_json::json!({"id": id, "description": "chains", "relative_cost": relative_cost}),
    );
    let ids: HashMap<&str, usize> = tokens.iter().copied().zip(0..).collect();
    write(
        "tokenizer.json",
        serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "Fuse"},
            "model": {"type": "WordLevel", "vocab": ids, "unk_token": "<pad>"},
        }),
    );
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let weights = HashMap::from([
        ("embedding.weight", zeros(&[vocabulary, hidden])),
        ("rnn.weight_ih_l0", zeros(&[3 * hidden, hidden])),
        ("rnn.weight_hh_l0", zeros(&[3 * hidden, hidden])),
        ("rnn.bias_ih_l0", zeros(&[3 * hidden])),
        ("rnn.bias_hh_l0", zeros(&[3 * hidden])),
        ("out.weight", zeros(&[vocabulary, hidden])),
        ("out.bias", zeros(&[vocabulary])),
    ]);
    candle_core::safetensors::save(&weights, folder.join("model.safetensors")).unwrap();
}

/// Writes a pack called `endless`, whose strings never end.
pub fn write_endless_pack(dir: &Path) {
    write_pack(dir, "endless", 9.0, 1_000_000);
    let file = dir.join("endless/model.safetensors");
    let mut weights = candle_core::safetensors::load(&file, &Device::Cpu).unwrap();
    // `<eos>` is the third token.
    let bias = Tensor::new(&[0.0_f32, 0.0, -1e4, 0.0, 0.0, 0.0], &Device::Cpu).unwrap();
    weights.insert("out.bias".to_owned(), bias);
    candle_core::safetensors::save(&weights, &file).unwrap();
}

/// Writes a retrosynthesis model with one template, for amides.
pub fn write_retro_model(dir: &Path) {
    let table = format!(
        "\tretro_template\ttemplate_hash\tlibrary_occurrence\tlibrary_index\n0\t{AMIDE}\tamide\t3\t0\n"
    );
    let file = fs::File::create(dir.join("templates.csv.gz")).unwrap();
    let mut encoder = GzEncoder::new(file, Compression::fast());
    encoder.write_all(table.as_bytes()).unwrap();
    encoder.finish().unwrap();
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let weights = HashMap::from([
        ("layer1.weight", zeros(&[4, 2048])),
        ("layer1.bias", zeros(&[4])),
        ("layer2.weight", zeros(&[1, 4])),
        ("layer2.bias", zeros(&[1])),
    ]);
    candle_core::safetensors::save(&weights, dir.join("policy.safetensors")).unwrap();
}

/// Creates a folder with the packs `cheap` and `dear`, a broken pack and a retrosynthesis model.
pub fn models() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write_pack(dir.path(), "cheap", 1.0, 12);
    write_pack(dir.path(), "dear", 3.0, 2);
    write_pack(dir.path(), "broken", 0.5, 12);
    fs::write(dir.path().join("broken/model.safetensors"), "no tensors").unwrap();
    let retro = dir.path().join("uspto_retro");
    fs::create_dir(&retro).unwrap();
    fs::write(retro.join("config.json"), r#"{"model_type": "retro"}"#).unwrap();
    write_retro_model(&retro);
    dir
}

/// Adds a molecule to the stock and returns its catalogue id.
pub async fn insert_block(pool: &PgPool, smiles: &str) -> i32 {
    let molecule: Molecule = smiles.parse().unwrap();
    sqlx::query_scalar(
        "insert into building_blocks (smiles, mw, morgan_bits) values ($1, $2, $3) returning id",
    )
    .bind(molecule.canonical_smiles())
    .bind(molecule.molecular_weight() as f32)
    .bind(molecule.fingerprint().to_bytes())
    .fetch_one(pool)
    .await
    .unwrap()
}

/// Raises the catalogue's version, as every import does.
pub async fn raise_version(pool: &PgPool) {
    sqlx::query("update catalogue_version set version = version + 1").execute(pool).await.unwrap();
}

/// Adds an offer of `vendor`. A lead time of `None` means that it does not ship to the United States.
pub async fn offer(pool: &PgPool, block: i32, vendor: &str, usd: Option<f64>, days_to_us: Option<f64>) {
    let vendor_id: i32 = sqlx::query_scalar(
        "insert into vendors (name) values ($1) on conflict (name) do update set name = $1 returning id",
    )
    .bind(vendor)
    .fetch_one(pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into offers (building_block_id, vendor_id, full_canonical, minor_components, full_mw, cs_id,
            cs_prefix, cs_url, pack, uom, price_usd, normalised_usd, lead_time_days_to_us, lead_time_days_to_de)
        select $1, $2, smiles, '', mw, 'E-' || $1, 'T', 'https://example.org', 1, 'g', $3, $3, $4, 9
        from building_blocks where id = $1",
    )
    .bind(block)
    .bind(vendor_id)
    .bind(usd)
    .bind(days_to_us)
    .execute(pool)
    .await
    .unwrap();
}

/// Waits until a worker lives.
pub async fn live(client: &Client) {
    test_support::until("a worker lives", async || !client.live_workers().await.unwrap().is_empty()).await;
}
