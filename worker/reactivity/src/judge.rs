//! The verdict on a step.

use crate::change::Step;
use crate::event::{Event, events};
use crate::refusal::Refusal;
use crate::{arene, cleavage, flask, origin, polar, redox, stereo};

/// The first thing that is wrong with the step, if there is one: tens of microseconds.
///
/// # Errors
/// Says why a chemist would not sign the step.
pub fn judge(step: &Step<'_>) -> Result<(), Refusal> {
    let events = events(step);
    flask::check(step, &events)?;
    origin::check(step, &events)?;
    stereo::check(step, &events)?;
    for event in &events {
        polar::check(step, &events, event)?;
        arene::check(step, &events, event)?;
        redox::check(step, &events, event)?;
        cleavage::check(step, &events, event)?;
    }
    Ok(())
}

/// Whether some event is one that `wanted` takes.
pub fn any(events: &[Event], wanted: impl Fn(&Event) -> bool) -> bool {
    events.iter().any(wanted)
}
