//! The live view: polls the service once a second and handles keys in between.

use std::{io, thread, time::Duration};

use anyhow::Context as _;
use contract::{JobInFlight, OperationsState, QueueState};
use queue::queue_label;
use ratatui::{
    DefaultTerminal, Frame,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    layout::{Constraint, Layout, Rect},
    style::{Style, Stylize as _},
    text::Line,
    widgets::{Block, Borders, Cell, Row, Table, TableState},
};
use tokio::sync::mpsc;

use super::{
    STATE_PATH,
    sections::{self, ScreenSection},
};
use crate::{failure::Failure, service::Service};

/// Polling interval.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of failures shown; the jobs take the rest of the screen.
const MAX_FAILURES: usize = 6;

/// Maximum number of workers and models shown.
const MAX_WORKERS: usize = 8;

/// Shows the installation until the user quits.
pub async fn show(service: &Service, state: OperationsState) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init().context("taking the terminal")?;
    let ended = live(&mut terminal, service, View::new(state)).await;
    ratatui::restore();
    ended
}

async fn live(terminal: &mut DefaultTerminal, service: &Service, mut view: View) -> Result<(), Failure> {
    let mut keys = keys();
    let fetch = async || {
        tokio::time::sleep(POLL_INTERVAL).await;
        service.get::<OperationsState>(STATE_PATH).await
    };
    let mut refresh = Box::pin(fetch());
    loop {
        terminal.draw(|frame| view.draw(frame)).context("writing to the terminal")?;
        tokio::select! {
            key = keys.recv() => match key.and_then(|key| view.press(key)) {
                Some(ScreenCommand::Quit) => return Ok(()),
                Some(ScreenCommand::Act(act)) => {
                    let acted = service.act(&act.path).await;
                    view.message = acted.map_or_else(|failure| failure.to_string(), |()| act.done);
                }
                None => {}
            },
            seen = &mut refresh => {
                match seen {
                    Ok(state) => view.see(state),
                    Err(failure) => view.message = failure.to_string(),
                }
                refresh = Box::pin(fetch());
            }
        }
    }
}

/// Returns the keys pressed from now on. The reading thread ends with the process, because a blocking terminal read
/// cannot be cancelled.
fn keys() -> mpsc::UnboundedReceiver<KeyEvent> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let read = move || -> io::Result<()> {
        loop {
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
                && sender.send(key).is_err()
            {
                return Ok(());
            }
        }
    };
    thread::spawn(read);
    receiver
}

/// Command of a key press.
#[derive(Debug, PartialEq, Eq)]
enum ScreenCommand {
    Quit,
    Act(Action),
}

/// Call to the service, and the message after it succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Action {
    path: String,
    done: String,
}

/// State of the screen.
struct View {
    state: OperationsState,
    /// Index of the selected queue.
    queue: usize,
    /// Id of the selected job, which may have ended.
    job: Option<String>,
    /// Action that awaits confirmation, and the question.
    pending_action: Option<(Action, String)>,
    /// Result message of the last action.
    message: String,
}

impl View {
    fn new(state: OperationsState) -> Self {
        Self { state, queue: 0, job: None, pending_action: None, message: String::new() }
    }

    fn see(&mut self, state: OperationsState) {
        self.state = state;
    }

    /// Handles a key; returns the command that it triggers at once.
    fn press(&mut self, key: KeyEvent) -> Option<ScreenCommand> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(ScreenCommand::Quit);
        }
        if let Some((act, _)) = self.pending_action.take() {
            return (key.code == KeyCode::Char('y')).then_some(ScreenCommand::Act(act));
        }
        self.message.clear();
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Some(ScreenCommand::Quit),
            KeyCode::Left => self.queue = self.queue.saturating_sub(1),
            KeyCode::Right => self.queue = (self.queue + 1).min(self.state.queues.len().saturating_sub(1)),
            KeyCode::Up => self.choose(self.chosen().map_or(0, |at| at.saturating_sub(1))),
            KeyCode::Down => self.choose(self.chosen().map_or(0, |at| at + 1)),
            KeyCode::Char('p') => return self.toggle_pause(),
            KeyCode::Char('c') => self.confirm_cancel(),
            _ => {}
        }
        None
    }

    /// Returns the position of the selected job, if it is still in the list.
    fn chosen(&self) -> Option<usize> {
        let id = self.job.as_ref()?;
        self.state.jobs.iter().position(|job| job.id == *id)
    }

    fn choose(&mut self, at: usize) {
        let last = self.state.jobs.len().saturating_sub(1);
        self.job = self.state.jobs.get(at.min(last)).map(|job| job.id.clone());
    }

    /// Resumes the selected queue, or asks for confirmation to pause it.
    fn toggle_pause(&mut self) -> Option<ScreenCommand> {
        let QueueState { queue, paused, .. } = self.state.queues.get(self.queue)?;
        let path = |act: &str| format!("/operations/v1/queues/{queue}/{act}");
        if paused.is_some() {
            return Some(ScreenCommand::Act(Action {
                path: path("resume"),
                done: format!("resumed {}", queue_label(queue)),
            }));
        }
        let question =
            format!("Pause {}? Running jobs go on, new requests are refused. y/n", queue_label(queue));
        self.pending_action =
            Some((Action { path: path("pause"), done: format!("paused {}", queue_label(queue)) }, question));
        None
    }

    fn confirm_cancel(&mut self) {
        let Some(JobInFlight { id, account, .. }) = self.chosen().map(|at| &self.state.jobs[at]) else {
            self.message = "no job is chosen: up and down choose one".to_owned();
            return;
        };
        let act =
            Action { path: format!("/operations/v1/jobs/{id}/cancel"), done: format!("cancelled {id}") };
        self.pending_action = Some((act, format!("Cancel {id} of {account}? y/n")));
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let high =
            |rows: usize| Constraint::Length(u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2));
        let state = &self.state;
        let beside = state.workers.len().max(state.reservoirs.len()).clamp(1, MAX_WORKERS);
        let [head, queues, jobs, failures, lowest, foot] = Layout::vertical([
            Constraint::Length(1),
            high(state.queues.len()),
            Constraint::Min(4),
            high(state.failures.len().clamp(1, MAX_FAILURES)),
            high(beside),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let [workers, reservoirs] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Fill(1)]).spacing(2).areas(lowest);

        let at = format!("retort top  {}  {}", state.at.format("%H:%M:%S UTC"), sections::catalogue(state));
        frame.render_widget(Line::from(at).bold(), head);
        draw(frame, queues, &sections::queues(state), Some(self.queue));
        draw(frame, jobs, &sections::jobs(state), self.chosen());
        draw(frame, failures, &sections::failures(state), None);
        draw(frame, workers, &sections::workers(state), None);
        draw(frame, reservoirs, &sections::reservoirs(state), None);
        let line = match (&self.pending_action, self.message.as_str()) {
            (Some((_, question)), _) => Line::from(question.as_str()).bold().yellow(),
            (None, "") => Line::from("← → queue  ↑ ↓ job  p pause/resume  c cancel  q quit").dim(),
            (None, said) => Line::from(said).yellow(),
        };
        frame.render_widget(line, foot);
    }
}

/// Draws a table and marks the row at `chosen`.
fn draw(frame: &mut Frame<'_>, area: Rect, section: &ScreenSection, chosen: Option<usize>) {
    // The last column shrinks when space is short.
    let widths = section.widths().into_iter().enumerate().map(|(at, width)| {
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        match at + 1 == section.headings.len() {
            true => Constraint::Min(width.min(12)),
            false => Constraint::Length(width),
        }
    });
    let rows = section.rows.iter().map(|cells| Row::new(cells.iter().map(|cell| Cell::from(cell.as_str()))));
    let table = Table::new(rows, widths)
        .header(Row::new(section.headings.iter().copied()).style(Style::new().dim()))
        .column_spacing(2)
        .row_highlight_style(Style::new().reversed())
        .block(Block::new().borders(Borders::TOP).title(format!("{} ", section.title).bold()));
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(chosen));
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;

    fn press(view: &mut View, code: KeyCode) -> Option<ScreenCommand> {
        view.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn act(path: &str, done: &str) -> Option<ScreenCommand> {
        Some(ScreenCommand::Act(Action { path: path.to_owned(), done: done.to_owned() }))
    }

    #[test]
    fn a_pause_and_a_cancellation_happen_only_after_a_yes() {
        let mut view = View::new(sections::tests::state());

        assert_eq!(press(&mut view, KeyCode::Char('p')), None);
        assert_eq!(press(&mut view, KeyCode::Char('n')), None);
        assert_eq!(press(&mut view, KeyCode::Char('y')), None);
        assert_eq!(press(&mut view, KeyCode::Char('p')), None);
        assert_eq!(
            press(&mut view, KeyCode::Char('y')),
            act("/operations/v1/queues/sample/pause", "paused sample")
        );
        assert_eq!(press(&mut view, KeyCode::Char('c')), None);
        assert_eq!(press(&mut view, KeyCode::Char('y')), None, "no job is chosen");
        for key in [KeyCode::Down, KeyCode::Down, KeyCode::Char('c')] {
            assert_eq!(press(&mut view, key), None);
        }
        assert_eq!(
            press(&mut view, KeyCode::Char('y')),
            act("/operations/v1/jobs/JOB2/cancel", "cancelled JOB2")
        );
        assert_eq!(press(&mut view, KeyCode::Char('q')), Some(ScreenCommand::Quit));
    }

    #[test]
    fn a_paused_queue_is_resumed_at_once_and_the_choice_stays_with_its_job() {
        let mut view = View::new(sections::tests::state());
        press(&mut view, KeyCode::Right);
        press(&mut view, KeyCode::Down);

        let resumed = press(&mut view, KeyCode::Char('p'));
        view.state.jobs.reverse();

        assert_eq!(resumed, act("/operations/v1/queues/search/resume", "resumed search"));
        assert_eq!(view.chosen(), Some(1));
    }

    #[test]
    fn the_screen_shows_every_table_and_asks_at_its_foot() {
        let mut view = View::new(sections::tests::state());
        let mut terminal = Terminal::new(TestBackend::new(140, 30)).unwrap();
        press(&mut view, KeyCode::Char('p'));

        terminal.draw(|frame| view.draw(frame)).unwrap();

        let screen = terminal.backend().to_string();
        for words in [
            "QUEUES",
            "paused by bob@example.org",
            "JOBS IN FLIGHT (2 of 7)",
            "JOB2",
            "no disk",
            "WORKERS",
            "RESERVOIRS",
        ] {
            assert!(screen.contains(words), "{words}:\n{screen}");
        }
        assert!(screen.contains("Pause sample? Running jobs go on"), "{screen}");
    }
}
