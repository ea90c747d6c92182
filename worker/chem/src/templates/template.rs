//! A retro template, read once.

use std::sync::Arc;

use super::demand::Demand;
use super::edit::script::{self, Script};
use super::engine::Engine;
use super::kept::Kept;
use super::matching::matcher;
use super::matching::query::Query;
use super::prepared::PreparedMolecule;
use super::screen::Screen;
use super::text;
use crate::error::TemplateError;

/// A retro template: a pattern of the product and what its precursors look like.
pub struct Template {
    pub(crate) text: text::Sides,
    /// What the product has to look like; none where the pattern is too large to screen.
    pub(crate) screen: Option<Arc<Screen>>,
    /// Whether the product side states stereo.
    pub(crate) states_stereo: bool,
    /// How it is applied on the graph, where it can be.
    pub(crate) script: Option<Script>,
    /// The same for the other direction.
    pub(crate) forward_script: Option<Script>,
    pub(crate) atoms_added: Option<Vec<u8>>,
    pub(crate) backward: Kept<Engine>,
    pub(crate) forward: Kept<Vec<(usize, Engine)>>,
}

impl Template {
    /// Parses a retro template, `product>>precursors`, its sides grouped in parentheses or not.
    ///
    /// # Errors
    /// Fails when there are not two sides of SMARTS.
    pub fn parse(smarts: &str) -> Result<Self, TemplateError> {
        let (text, product, precursors) = text::Sides::parse(smarts)?;
        let states_stereo = text.product.iter().any(|side| side.contains(['@', '/', '\\']));
        let demand = || Demand::new(&product, &precursors).filter(|_| states_stereo);
        Ok(Self {
            screen: Query::new(&product).map(|query| Arc::new(Screen { query, demand: demand() })),
            script: Script::new(&product, &precursors),
            forward_script: Script::new(&precursors, &product),
            atoms_added: script::atoms_added(&product, &precursors),
            states_stereo,
            text,
            backward: Kept::new(),
            forward: Kept::new(),
        })
    }

    /// How many of chematic's reactions it keeps, each some tens of kilobytes: they are made when a match has to go the long
    /// way.
    #[must_use]
    pub fn reactions_kept(&self) -> usize {
        usize::from(self.backward.is_made()) + usize::from(self.forward.is_made())
    }

    /// Forgets those that were not used since this was last called.
    pub fn forget_unused(&self) {
        self.backward.forget_unasked();
        self.forward.forget_unasked();
    }

    /// Whether the template may match: false is certain, and costs tens of nanoseconds.
    #[must_use]
    pub fn may_match(&self, product: &PreparedMolecule) -> bool {
        let (Some(screen), Some(target)) = (&self.screen, product.target()) else { return true };
        matcher::may_match_where(&screen.query, target, &mut |images| screen.accepts(product, target, images))
    }

    /// Atomic numbers of the heavy atoms that the precursors have and the product has not, ascending; `None` where only
    /// applying the template tells, since it takes atoms away or makes others of them.
    #[must_use]
    pub fn atoms_added(&self) -> Option<&[u8]> {
        self.atoms_added.as_deref()
    }
}
