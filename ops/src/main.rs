//! `retort`: the binary; the library holds all of the command line.

use std::process::ExitCode;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    ops::run().await
}
