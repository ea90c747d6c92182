//! The verdict on a step.

use crate::change::Step;
use crate::event::{Event, events};
use crate::refusal::Refusal;
use crate::{arene, cleavage, flask, origin, polar, redox, stereo};

/// How much of a step the rules know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// What would react first has been asked, site against site.
    Decided,
    /// Nothing speaks against the step, but which site reacts is not known.
    Open,
}

/// The first thing that is wrong with the step, if there is one: tens of microseconds.
///
/// # Errors
/// Says why a chemist would not sign the step.
pub fn judge(step: &Step<'_>) -> Result<Certainty, Refusal> {
    let events = events(step);
    flask::check(step, &events)?;
    origin::check(step)?;
    stereo::check(step, &events)?;
    for event in &events {
        polar::check(step, &events, event)?;
        arene::check(step, &events, event)?;
        redox::check(step, &events, event)?;
        cleavage::check(step, &events, event)?;
    }
    let decided = !events.is_empty() && events.iter().all(is_decided);
    Ok(if decided { Certainty::Decided } else { Certainty::Open })
}

/// Whether the tables order the sites at which such an event may happen.
fn is_decided(event: &Event) -> bool {
    !matches!(
        event,
        Event::Functionalisation { .. }
            | Event::Aldol { .. }
            | Event::Heck { .. }
            | Event::DirectArylation { .. }
            | Event::ConjugateAddition { .. }
            | Event::Metathesis { .. }
    )
}

/// What happens in the step, for people to read.
#[must_use]
pub fn describe(step: &Step<'_>) -> String {
    let names: Vec<String> = events(step).iter().map(|event| format!("{event:?}")).collect();
    names.join(", ")
}

/// Whether some event is one that `wanted` takes.
pub fn any(events: &[Event], wanted: impl Fn(&Event) -> bool) -> bool {
    events.iter().any(wanted)
}
