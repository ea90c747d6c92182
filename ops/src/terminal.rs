//! Terminal output: data to standard output, everything for people to standard error.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use tokio::signal;

use crate::failure::{Failure, INTERRUPTED};

/// Writes `text` and a line feed to standard output.
pub fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).context("writing to standard output")?;
    Ok(())
}

/// Writes a message for people to standard error; a closed standard error is ignored.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Returns the entry of `known` for the file's extension.
///
/// # Errors
/// Fails, and lists the extensions, if none matches.
pub fn by_ending<T: Copy>(path: &Path, known: &[(&str, T)]) -> Result<T, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let found = known.iter().find(|(name, _)| ending.eq_ignore_ascii_case(name));
    found.map(|(_, format)| *format).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| format!(".{name}")).collect();
        Failure::Usage(format!("`{}` has to end in one of {}", path.display(), names.join(", ")))
    })
}

/// Returns a flag that becomes true at the first Ctrl-C; the second one ends the process.
pub fn interrupted() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    tokio::spawn(async move {
        if signal::ctrl_c().await.is_err() {
            return;
        }
        raised.store(true, Ordering::Relaxed);
        note("stopping after this step; press Ctrl-C again to stop at once");
        if signal::ctrl_c().await.is_ok() {
            process::exit(i32::from(INTERRUPTED));
        }
    });
    flag
}

/// Creates a spinner with elapsed seconds, invisible if standard error is no terminal.
pub fn spinner(message: impl Into<String>) -> ProgressBar {
    let bar = ProgressBar::new_spinner()
        .with_style(
            ProgressStyle::with_template("{spinner} {msg} {elapsed}")
                .expect("spinner: the template is a constant"),
        )
        .with_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Creates a spinner with bytes and elapsed seconds, invisible if standard error is no terminal.
pub fn bytes_spinner(message: impl Into<String>) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {bytes} {elapsed}")
        .expect("bytes_spinner: the template is a constant");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Creates a progress bar over `length` items, invisible if standard error is no terminal.
pub fn bar(length: u64, message: impl Into<String>) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} · {per_sec} · {eta} left")
        .expect("bar: the template is a constant")
        .progress_chars("=> ");
    ProgressBar::new(length).with_style(style).with_message(message.into())
}

/// Creates a progress bar for work of the service, which itself estimates the time left; invisible if standard error
/// is no terminal.
pub fn service_progress_bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:40}] {pos}/{len} · {elapsed}{msg}")
        .expect("batch_bar: the template is a constant")
        .progress_chars("=> ");
    let bar = ProgressBar::new(0).with_style(style).with_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Formats ` · 2m left`; empty if the time is unknown.
pub fn time_left(seconds: Option<f64>) -> String {
    let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    span.map(|span| format!(" · {} left", HumanDuration(span))).unwrap_or_default()
}

/// Creates a progress bar over `length` bytes, invisible if standard error is no terminal.
pub fn bytes_bar(length: u64, message: impl Into<String>) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% · {elapsed}, {eta} left")
        .expect("bytes_bar: the template is a constant")
        .progress_chars("=> ");
    ProgressBar::new(length).with_style(style).with_message(message.into())
}

/// Source of a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordSource {
    /// Prompt on the terminal, without echo.
    Prompt(Confirm),
    /// First line of standard input.
    Stdin,
}

/// Number of times that a prompt asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirm {
    /// Twice, for a new password: both entries must agree.
    Twice,
    /// Once, for a known password.
    Once,
}

/// Reads a password.
pub fn password(source: PasswordSource) -> Result<String, Failure> {
    let password = match source {
        PasswordSource::Stdin => {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).context("reading the password from standard input")?;
            line.trim_end_matches(['\r', '\n']).to_owned()
        }
        PasswordSource::Prompt(confirm) => prompt_password(confirm)?,
    };
    if password.is_empty() {
        return Err(Failure::Usage("the password is empty".into()));
    }
    Ok(password)
}

fn prompt_password(confirm: Confirm) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Usage(
            "there is no terminal to ask for the password on; use --password-stdin".into(),
        ));
    }
    let password = rpassword::prompt_password("Password: ").context("reading the password")?;
    if confirm == Confirm::Twice
        && rpassword::prompt_password("Again: ").context("reading the password")? != password
    {
        return Err(Failure::Usage("the two passwords differ".into()));
    }
    Ok(password)
}

/// Asks for a line on the terminal.
pub fn prompt(question: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Usage(format!("there is no terminal to ask on: {question}")));
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question}: ").and_then(|()| stderr.flush()).context("writing to the terminal")?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("reading from the terminal")?;
    Ok(line.trim().to_owned())
}
