//! `retort`: the command line, all of it in the library.

use std::process::ExitCode;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    ops::run().await
}
