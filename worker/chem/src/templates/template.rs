//! A parsed retro template.

use std::sync::Arc;

use super::edit::script::{self, Script};
use super::engine::TemplateEngine;
use super::lazy_slot::LazySlot;
use super::matching::matcher;
use super::matching::query::MaskPattern;
use super::prepared::PreparedMolecule;
use super::screen::ProductScreen;
use super::stereo_conditions::StereoConditions;
use super::text;
use crate::error::TemplateError;

/// A retro template: a pattern of the product and the form of its precursors.
pub struct Template {
    pub(crate) text: text::TemplateSides,
    /// Conditions on the product; `None` if the pattern is too large to screen.
    pub(crate) screen: Option<Arc<ProductScreen>>,
    /// Set if the product side states stereo.
    pub(crate) states_stereo: bool,
    /// Script for the fast path, if there is one.
    pub(crate) script: Option<Script>,
    /// Script for the forward direction.
    pub(crate) forward_script: Option<Script>,
    pub(crate) atoms_added: Option<Vec<u8>>,
    pub(crate) backward: LazySlot<TemplateEngine>,
    pub(crate) forward: LazySlot<Vec<(usize, TemplateEngine)>>,
}

impl Template {
    /// Parses a retro template, `product>>precursors`, with or without its sides grouped in parentheses.
    ///
    /// # Errors
    /// Fails if there are not two sides of SMARTS.
    pub fn parse(smarts: &str) -> Result<Self, TemplateError> {
        let (text, product, precursors) = text::TemplateSides::parse(smarts)?;
        let states_stereo = text.product.iter().any(|side| side.contains(['@', '/', '\\']));
        let demand = || StereoConditions::new(&product, &precursors).filter(|_| states_stereo);
        Ok(Self {
            screen: MaskPattern::new(&product)
                .map(|query| Arc::new(ProductScreen { query, demand: demand() })),
            script: Script::new(&product, &precursors),
            forward_script: Script::new(&precursors, &product),
            atoms_added: script::atoms_added(&product, &precursors),
            states_stereo,
            text,
            backward: LazySlot::new(),
            forward: LazySlot::new(),
        })
    }

    /// Returns the number of chematic reactions that it holds, each some tens of kilobytes. They are made when a
    /// match needs the general path.
    #[must_use]
    pub fn cached_reactions(&self) -> usize {
        usize::from(self.backward.is_made()) + usize::from(self.forward.is_made())
    }

    /// Drops the reactions that were not used since the last call.
    pub fn drop_unused(&self) {
        self.backward.drop_unused_value();
        self.forward.drop_unused_value();
    }

    /// Returns true if the template may match; false is certain. Costs tens of nanoseconds.
    #[must_use]
    pub fn may_match(&self, product: &PreparedMolecule) -> bool {
        let (Some(screen), Some(target)) = (&self.screen, product.target()) else { return true };
        matcher::may_match_where(&screen.query, target, &mut |images| screen.accepts(product, target, images))
    }

    /// Returns the atomic numbers of the heavy atoms that the precursors have and the product has not, ascending.
    /// `None` if this is known only after applying the template, since it removes atoms or changes their element.
    #[must_use]
    pub fn atoms_added(&self) -> Option<&[u8]> {
        self.atoms_added.as_deref()
    }
}
