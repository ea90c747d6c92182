//! A retrosynthesis model: reaction templates, the network that ranks them, the plausibility model for their
//! proposals, and the recorded reactions behind them.
//!
//! Each file or folder here reads one file of a model's directory; [`RetroModel`] holds them together. Nothing here
//! depends on searches: these files import only one another.

pub mod dense;
pub mod error;
pub mod library;
pub mod plausibility;
pub mod policy;
pub mod precedents;
pub mod reactants;
pub mod records;
pub mod surroundings;
pub mod tensors;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use chem::{Change, Fingerprint, Molecule, PreparedMolecule, ReactionMixture, Template};

use crate::cores::all_cores;
use crate::model::error::ModelError;
use crate::model::library::TemplateLibrary;
use crate::model::plausibility::PlausibilityModel;
use crate::model::policy::{Policy, Ranking};
use crate::model::precedents::{PrecedentSimilarity, Precedents};
use crate::model::reactants::RecordedReactants;
use crate::model::records::{RecordedReactions, RecordedReactionsByTemplate};

/// Templates and the policy network that ranks them, loaded once and shared.
pub struct RetroModel {
    library: TemplateLibrary,
    policy: Policy,
    plausibility_model: Option<PlausibilityModel>,
    precedents: Option<Precedents>,
    reactants: Option<RecordedReactants>,
    records: RecordedReactionsByTemplate,
}

impl RetroModel {
    /// Loads `templates.csv.gz` and `policy.safetensors` from `dir`, and these files where they exist:
    /// - `sites.safetensors`: lets the network see where templates match;
    /// - `plausibility.safetensors`: gives the probability that a reaction mixture gives the stated product;
    /// - `precedents.safetensors`: products of recorded reactions;
    /// - `reactants.safetensors`: counts recorded reactants, for the order of precursor sets;
    /// - `evidence.tsv.gz` with `agents.tsv`: the patents and conditions of those reactions.
    ///
    /// The table is TAB-separated with the header `retro_template template_hash library_occurrence library_index`,
    /// after an unnamed column that numbers the rows from 0. Row `i` is output `i` of the network. The weights are
    /// `layer1.weight` `[H, 2048]`, `layer1.bias` `[H]`, `layer2.weight` `[N, H]`, `layer2.bias` `[N]`, f16, bf16 or
    /// f32. `layer2.weight` may also be signed bytes with one scale per row, `layer2.scale` `[N]`. The header's
    /// `activation` is `elu` (the default) or `relu`.
    ///
    /// Templates that cannot be compiled are skipped: see [`skipped_templates`](Self::skipped_templates).
    ///
    /// # Errors
    /// Fails when a file is missing, when a line or tensor is broken (the error names it), or when no template is
    /// usable.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        Self::load_on(dir, all_cores())
    }

    /// [Loads](Self::load) the model on `cores` cores.
    ///
    /// # Errors
    /// Fails as [`load`](Self::load) does.
    pub fn load_on(dir: &Path, cores: usize) -> Result<Self, ModelError> {
        let library = TemplateLibrary::load(&dir.join("templates.csv.gz"), cores)?;
        let policy = Policy::load(dir, library.len())?;
        let there = |name: &str| Some(dir.join(name)).filter(|path| path.exists());
        let plausibility_model =
            there("plausibility.safetensors").map(|path| PlausibilityModel::load(&path, library.templates()));
        let plausibility_model = plausibility_model.transpose()?;
        let precedents =
            there("precedents.safetensors").map(|path| Precedents::load(&path, library.len())).transpose()?;
        let reactants =
            there("reactants.safetensors").map(|path| RecordedReactants::load(&path)).transpose()?;
        let records = there("evidence.tsv.gz")
            .map(|_| RecordedReactionsByTemplate::load(dir, library.len()))
            .transpose()?;
        Ok(Self {
            library,
            policy,
            plausibility_model,
            precedents,
            reactants,
            records: records.unwrap_or_default(),
        })
    }

    /// Single-template model for tests of later stages.
    #[cfg(test)]
    pub(crate) fn of_one_template(smarts: &str) -> Self {
        Self {
            library: TemplateLibrary::with_one_template(smarts),
            policy: Policy::uniform(1),
            plausibility_model: None,
            precedents: None,
            reactants: None,
            records: RecordedReactionsByTemplate::default(),
        }
    }

    /// Number of templates, usable or not.
    #[must_use]
    pub fn templates(&self) -> usize {
        self.library.len()
    }

    /// Number of templates that could not be compiled and are never applied.
    #[must_use]
    pub fn skipped_templates(&self) -> usize {
        self.library.skipped()
    }

    /// The compiled template of row `index`, `None` when it could not be compiled.
    pub(crate) fn template(&self, index: u32) -> Option<&Template> {
        self.library.template(index)
    }

    /// Limits what templates keep cached for later use.
    pub(crate) fn tidy(&self) {
        self.library.tidy();
    }

    /// Hash of the template of row `index`, from the table.
    pub(crate) fn template_hash(&self, index: u32) -> &str {
        self.library.hash(index)
    }

    /// Row of the first template with this hash.
    pub(crate) fn template_with_hash(&self, hash: &str) -> Option<u32> {
        self.library.called(hash)
    }

    /// Recorded reactions of a template. Without records, only their number is known: that of the reactions that the
    /// template was extracted from.
    pub(crate) fn records(&self, template: u32) -> Arc<RecordedReactions> {
        self.records.of(template).cloned().unwrap_or_else(|| {
            Arc::new(RecordedReactions {
                reactions: self.library.occurrence(template),
                ..RecordedReactions::default()
            })
        })
    }

    /// Probability that a reaction mixture gives this product, without regard to competing products; 1 where the
    /// model does not know.
    pub(crate) fn plausibility_alone(&self, change: &Change) -> f32 {
        self.plausibility_model.as_ref().map_or(1.0, |plausibility_model| plausibility_model.alone(change))
    }

    /// Plausibility of the same change beside everything else that the templates make of the reaction mixture. At
    /// most `plausibility_alone`.
    pub(crate) fn plausibility(&self, mixture: &ReactionMixture, change: &Change) -> f32 {
        let plausibility_model = self.plausibility_model.as_ref();
        plausibility_model.map_or(1.0, |plausibility_model| {
            plausibility_model.among_rivals(mixture, change, |row| self.template(row))
        })
    }

    /// Templates that react with these molecules, one per product, common ones first. Empty for a model without a
    /// plausibility model.
    pub(crate) fn templates_for(&self, molecules: &[Molecule]) -> Vec<u32> {
        let plausibility_model = self.plausibility_model.as_ref().zip(ReactionMixture::new(molecules));
        plausibility_model.map_or_else(Vec::new, |(plausibility_model, mixture)| {
            plausibility_model.templates_for(&mixture, |row| self.template(row))
        })
    }

    /// Plausibility model of the steps, if there is one.
    pub(crate) fn plausibility_model(&self) -> Option<&PlausibilityModel> {
        self.plausibility_model.as_ref()
    }

    /// Similarity of the product to the nearest one that a recorded reaction of the template made; `None` where none
    /// is recorded.
    pub(crate) fn nearest_precedent(
        &self,
        template: u32,
        product: &Fingerprint,
    ) -> Option<PrecedentSimilarity> {
        self.precedents.as_ref()?.nearest(template, product)
    }

    /// Recorded reactants, if the model counts them.
    pub(crate) fn recorded_reactants(&self) -> Option<&RecordedReactants> {
        self.reactants.as_ref()
    }

    /// Templates that may match a product, most probable first.
    pub(crate) fn rank(&self, product: &PreparedMolecule) -> Ranking {
        self.policy.rank(product.molecule(), self.library.matches(product))
    }
}

impl fmt::Debug for RetroModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RetroModel({} templates)", self.templates())
    }
}
