//! Tiny model packs, each written to its own folder.

use std::{collections::HashMap, fs, path::Path};

use candle_core::{Device, Tensor, safetensors};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use tempfile::TempDir;

const SPECIAL: [&str; 3] = ["<pad>", "<bos>", "<eos>"];
const BOS: usize = 1;
const EOS: usize = 2;

/// Model of small random weights. Its strings are chains of the letters C, N, O, S and F in any order. Many are
/// molecules; those with F inside are not.
pub fn random() -> TempDir {
    random_of(&["C", "N", "O", "S", "F"])
}

/// Model of small random weights that writes these tokens in any order.
pub fn random_of(tokens: &[&str]) -> TempDir {
    let (vocab, embedding, hidden, layers) = (SPECIAL.len() + tokens.len(), 7, 12, 2);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut tensor = |shape: &[usize]| {
        let len = shape.iter().product();
        let numbers: Vec<f32> = (0..len).map(|_| rng.random_range(-0.5..0.5)).collect();
        Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
    };
    let mut weights = HashMap::from([
        ("embedding.weight".to_owned(), tensor(&[vocab, embedding])),
        ("out.weight".to_owned(), tensor(&[vocab, hidden])),
        ("out.bias".to_owned(), tensor(&[vocab])),
    ]);
    for n in 0..layers {
        let input = if n == 0 { embedding } else { hidden };
        weights.insert(format!("rnn.weight_ih_l{n}"), tensor(&[3 * hidden, input]));
        weights.insert(format!("rnn.weight_hh_l{n}"), tensor(&[3 * hidden, hidden]));
        weights.insert(format!("rnn.bias_ih_l{n}"), tensor(&[3 * hidden]));
        weights.insert(format!("rnn.bias_hh_l{n}"), tensor(&[3 * hidden]));
    }
    write(tokens, [embedding, hidden, layers], &weights, 40)
}

/// Model that writes only `text`; each token may occur only once in it.
pub fn always(text: &[&str]) -> TempDir {
    let path: Vec<usize> = [BOS].into_iter().chain(3..3 + text.len()).chain([EOS]).collect();
    follow(text, &path)
}

/// Model that writes `token` for ever.
pub fn endless(token: &str) -> TempDir {
    follow(&[token], &[BOS, 3, 3])
}

/// Model in which each token of `path` is always followed by the next. The hidden state is the last token, one-hot,
/// and the output weights give its successor.
fn follow(tokens: &[&str], path: &[usize]) -> TempDir {
    let vocab = SPECIAL.len() + tokens.len();
    let matrix = |rows: usize, number: &dyn Fn(usize, usize) -> f32| {
        let numbers: Vec<f32> = (0..rows * vocab).map(|n| number(n / vocab, n % vocab)).collect();
        Tensor::from_vec(numbers, (rows, vocab), &Device::Cpu).unwrap()
    };
    let vector = |len: usize, number: &dyn Fn(usize) -> f32| {
        Tensor::from_vec((0..len).map(number).collect::<Vec<f32>>(), len, &Device::Cpu).unwrap()
    };
    let one_if = |yes: bool| if yes { 1.0 } else { 0.0 };
    let weights = HashMap::from([
        ("embedding.weight".to_owned(), matrix(vocab, &|row, column| one_if(row == column))),
        // Gate n repeats the input. Gate z is closed, so that nothing of the last state remains.
        (
            "rnn.weight_ih_l0".to_owned(),
            matrix(3 * vocab, &|row, column| 9.0 * one_if(row == 2 * vocab + column)),
        ),
        ("rnn.weight_hh_l0".to_owned(), matrix(3 * vocab, &|_, _| 0.0)),
        ("rnn.bias_ih_l0".to_owned(), vector(3 * vocab, &|row| -30.0 * one_if(row / vocab == 1))),
        ("rnn.bias_hh_l0".to_owned(), vector(3 * vocab, &|_| 0.0)),
        (
            "out.weight".to_owned(),
            matrix(vocab, &|next, token| 60.0 * one_if(path.windows(2).any(|pair| pair == [token, next]))),
        ),
        ("out.bias".to_owned(), vector(vocab, &|_| 0.0)),
    ]);
    write(tokens, [vocab, vocab, 1], &weights, 10)
}

/// Changes a JSON file of a pack.
pub fn edit(pack: &Path, file: &str, change: impl FnOnce(&mut Value)) {
    let path = pack.join(file);
    let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

/// Changes the tensors of a pack.
pub fn edit_weights(pack: &Path, change: impl FnOnce(&mut HashMap<String, Tensor>)) {
    let path = pack.join("model.safetensors");
    let mut tensors = safetensors::load(&path, &Device::Cpu).unwrap();
    change(&mut tensors);
    safetensors::save(&tensors, path).unwrap();
}

fn write(
    tokens: &[&str],
    [embedding, hidden, layers]: [usize; 3],
    weights: &HashMap<String, Tensor>,
    max_length: usize,
) -> TempDir {
    let all: Vec<&str> = SPECIAL.iter().chain(tokens).copied().collect();
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, value: Value| fs::write(dir.path().join(file), value.to_string()).unwrap();
    write(
        "config.json",
        json!({
            "model_type": "smiles_gru", "vocab_size": all.len(), "embedding_size": embedding,
            "hidden_size": hidden, "num_layers": layers,
            "bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": 0,
        }),
    );
    write("generation_config.json", json!({"temperature": 1.0, "top_p": 1.0, "max_length": max_length}));
    write("metadata.json", json!({"id": "toy", "description": "For tests", "relative_cost": 1.5}));
    let added = SPECIAL.iter().enumerate().map(|(id, content)| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true,
        })
    });
    let vocabulary: HashMap<&str, usize> = all.iter().enumerate().map(|(id, text)| (*text, id)).collect();
    write(
        "tokenizer.json",
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added.collect::<Vec<_>>(),
            "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "Fuse"},
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
        }),
    );
    safetensors::save(weights, dir.path().join("model.safetensors")).unwrap();
    dir
}
