//! Tables of an installation's state, as text for the terminal view and for pipes.

use chrono::{DateTime, TimeDelta, Utc};
use contract::{FailedJob, JobInFlight, JobState, OperationsState, QueueState, ReservoirState, WorkerState};
use queue::queue_label;

/// One table.
#[derive(Debug)]
pub struct ScreenSection {
    pub title: String,
    pub headings: &'static [&'static str],
    pub rows: Vec<Vec<String>>,
}

/// Formats all tables one after the other.
pub fn plain(state: &OperationsState) -> String {
    let all = [queues(state), jobs(state), failures(state), workers(state), reservoirs(state)];
    let tables: Vec<String> = all.iter().map(ScreenSection::to_text).collect();
    format!("{}\n\n{}\n", tables.join("\n\n"), catalogue(state))
}

pub fn queues(state: &OperationsState) -> ScreenSection {
    let row = |queue: &QueueState| {
        let standing = queue.paused.as_ref().map_or_else(
            || if queue.slots > 0 { "open".to_owned() } else { "no worker".to_owned() },
            |pause| format!("paused by {} {} ago", pause.by, since(state, pause.since)),
        );
        let longest = match queue.waiting {
            0 => "-".to_owned(),
            _ => format_duration(queue.oldest_wait_seconds),
        };
        vec![
            queue_label(&queue.queue).to_owned(),
            queue.waiting.to_string(),
            format!("{} of {}", queue.busy, queue.slots),
            longest,
            standing,
        ]
    };
    ScreenSection {
        title: "QUEUES".to_owned(),
        headings: &["queue", "waiting", "slots busy", "longest wait", "state"],
        rows: state.queues.iter().map(row).collect(),
    }
}

pub fn jobs(state: &OperationsState) -> ScreenSection {
    let row = |job: &JobInFlight| {
        let (standing, from) = match job.state {
            JobState::Running => ("running", job.started_at.unwrap_or(job.enqueued_at)),
            JobState::Waiting => ("waiting", job.enqueued_at),
        };
        let left = seconds(job.deadline - state.at);
        vec![
            job.id.clone(),
            queue_label(&job.queue).to_owned(),
            job.model_id.clone().unwrap_or_else(|| job.kind.replace('_', " ")),
            job.account.clone(),
            standing.to_owned(),
            since(state, from),
            if left >= 0.0 {
                format!("in {}", format_duration(left))
            } else {
                format!("{} ago", format_duration(-left))
            },
            job.attempts.to_string(),
            job.worker.clone().unwrap_or_default(),
        ]
    };
    ScreenSection {
        title: titled("JOBS IN FLIGHT", state.jobs.len(), state.jobs_total),
        headings: &["job", "queue", "model", "account", "state", "for", "deadline", "attempts", "worker"],
        rows: state.jobs.iter().map(row).collect(),
    }
}

pub fn failures(state: &OperationsState) -> ScreenSection {
    let row = |job: &FailedJob| {
        vec![
            job.id.clone(),
            queue_label(&job.queue).to_owned(),
            job.account.clone(),
            format!("{} ago", since(state, job.failed_at)),
            job.attempts.to_string(),
            // Each job takes one line, whatever its error contains.
            job.error.split_whitespace().collect::<Vec<_>>().join(" "),
        ]
    };
    ScreenSection {
        title: titled("RECENT FAILURES", state.failures.len(), state.failures_total),
        headings: &["job", "queue", "account", "when", "attempts", "error"],
        rows: state.failures.iter().map(row).collect(),
    }
}

pub fn workers(state: &OperationsState) -> ScreenSection {
    let row = |worker: &WorkerState| {
        vec![
            worker.name.clone(),
            worker.host.clone().unwrap_or_default(),
            if worker.live { "live" } else { "gone" }.to_owned(),
            format!("{} ago", since(state, worker.last_seen)),
            format!("{} of {}", worker.holds.len(), worker.slots),
            worker.models.join(","),
        ]
    };
    ScreenSection {
        title: "WORKERS".to_owned(),
        headings: &["worker", "host", "state", "last beat", "in hand", "serves"],
        rows: state.workers.iter().map(row).collect(),
    }
}

pub fn reservoirs(state: &OperationsState) -> ScreenSection {
    let row = |one: &ReservoirState| {
        let target = one.target.map(|target| target.to_string()).unwrap_or_default();
        vec![one.model_id.clone(), one.ready.to_string(), target]
    };
    ScreenSection {
        title: "RESERVOIRS".to_owned(),
        headings: &["model", "ready", "of"],
        rows: state.reservoirs.iter().map(row).collect(),
    }
}

pub fn catalogue(state: &OperationsState) -> String {
    let catalogue = &state.catalogue;
    let imported =
        catalogue.imported_at.map(|at| format!(", imported {} ago", since(state, at))).unwrap_or_default();
    format!(
        "CATALOGUE  {} building blocks, {} offers, version {}{imported}",
        catalogue.building_blocks, catalogue.offers, catalogue.version
    )
}

impl ScreenSection {
    fn to_text(&self) -> String {
        if self.rows.is_empty() {
            return format!("{}  none", self.title);
        }
        let headings: Vec<String> = self.headings.iter().map(ToString::to_string).collect();
        let widths = self.widths();
        let line = |cells: &Vec<String>| {
            let padded: Vec<String> =
                cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
            padded.join("  ").trim_end().to_owned()
        };
        let lines: Vec<String> = std::iter::once(&headings).chain(&self.rows).map(line).collect();
        format!("{}\n{}", self.title, lines.join("\n"))
    }

    /// Returns the width of each column in characters.
    pub fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.chain([self.headings[column].chars().count()]).max().unwrap_or(0)
        };
        (0..self.headings.len()).map(width).collect()
    }
}

fn titled(title: &str, shown: usize, total: i64) -> String {
    match i64::try_from(shown) == Ok(total) {
        true => format!("{title} ({total})"),
        false => format!("{title} ({shown} of {total})"),
    }
}

fn since(state: &OperationsState, time: DateTime<Utc>) -> String {
    format_duration(seconds(state.at - time))
}

fn seconds(delta: TimeDelta) -> f64 {
    delta.as_seconds_f64()
}

/// Formats seconds for people, in one unit.
fn format_duration(seconds: f64) -> String {
    match seconds.max(0.0) {
        seconds if seconds < 99.5 => format!("{seconds:.0} s"),
        seconds if seconds < 100.0 * 60.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 48.0 * 3600.0 => format!("{:.0} h", seconds / 3600.0),
        seconds => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a state with a paused queue that has a waiting job, and a running job on the other queue.
    pub fn state() -> OperationsState {
        let job = |id: &str, queue: &str, state: &str| {
            json!({
                "id": id, "queue": queue, "account": "ada@example.org", "kind": "first_route", "model_id": null,
                "state": state, "attempts": 1, "enqueued_at": "2026-01-02T03:04:00Z",
                "started_at": "2026-01-02T03:04:05Z", "deadline": "2026-01-02T03:05:00Z", "worker": null,
            })
        };
        let queue = |name: &str, paused: serde_json::Value| json!({ "queue": name, "waiting": 1, "busy": 1, "slots": 2, "oldest_wait_seconds": 300.0, "paused": paused });
        let state = json!({
            "at": "2026-01-02T03:04:15Z",
            "queues": [
                queue("sample", json!(null)),
                queue("search", json!({ "since": "2026-01-02T03:00:15Z", "by": "bob@example.org" })),
            ],
            "workers": [],
            "jobs": [job("JOB1", "sample", "running"), job("JOB2", "search", "waiting")], "jobs_total": 7,
            "failures": [{
                "id": "JOB3", "queue": "search", "account": "ada@example.org", "model_id": null, "attempts": 3,
                "failed_at": "2026-01-02T01:04:15Z", "problem": "abandoned", "error": "given up:\nno disk",
            }],
            "failures_total": 1,
            "reservoirs": [{ "model_id": "m", "ready": 5, "target": 10 }],
            "catalogue": { "version": 3, "building_blocks": 17, "offers": 20, "imported_at": null },
        });
        serde_json::from_value(state).unwrap()
    }

    #[test]
    fn the_tables_say_what_stands_in_the_state_one_thing_a_line() {
        let text = plain(&state());

        let expected = "\
QUEUES
queue   waiting  slots busy  longest wait  state
sample  1        1 of 2      5 min         open
search  1        1 of 2      5 min         paused by bob@example.org 4 min ago

JOBS IN FLIGHT (2 of 7)
job   queue   model        account          state    for   deadline  attempts  worker
JOB1  sample  first route  ada@example.org  running  10 s  in 45 s   1
JOB2  search  first route  ada@example.org  waiting  15 s  in 45 s   1

RECENT FAILURES (1)
job   queue   account          when     attempts  error
JOB3  search  ada@example.org  2 h ago  3         given up: no disk

WORKERS  none

RESERVOIRS
model  ready  of
m      5      10

CATALOGUE  17 building blocks, 20 offers, version 3
";
        assert_eq!(text, expected);
    }
}
