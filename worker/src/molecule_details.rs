//! Details of a sample's molecules.

use chem::{Limits, Molecule, Properties, Property};
use contract::MoleculeDetails;
use queue::HandlerError;

use crate::{CompletedSample, ComputationOutcome, LoadedModel, rounding::rounded};

/// Adds the details to a sample that was drawn from `model`.
///
/// # Errors
/// Fails as [`details`] does.
pub(crate) fn with_details(
    model: &LoadedModel,
    drawn: ComputationOutcome<CompletedSample>,
) -> Result<ComputationOutcome<CompletedSample>, HandlerError> {
    Ok(match drawn {
        ComputationOutcome::Done(sample) => {
            let details = Some(details(model, &sample.smiles)?);
            ComputationOutcome::Done(CompletedSample { details, ..sample })
        }
        ended => ended,
    })
}

/// Computes the details of molecules, numbers to four decimal places.
///
/// # Errors
/// Fails if the network does, or if a SMILES is invalid; those that a sampler draws never are.
pub(crate) fn details(model: &LoadedModel, smiles: &[String]) -> Result<MoleculeDetails, HandlerError> {
    let mut values: Vec<_> =
        Property::ALL.iter().map(|property| (*property, Vec::with_capacity(smiles.len()))).collect();
    for smiles in smiles {
        let properties = Properties::new(&Molecule::parse(smiles, Limits::DEFAULT)?);
        for (property, values) in &mut values {
            values.push(rounded(properties.value(*property)));
        }
    }
    let losses = model.sampler.likelihoods(smiles)?;
    Ok(MoleculeDetails {
        properties: values
            .into_iter()
            .map(|(property, values)| (property.name().to_owned(), values))
            .collect(),
        routes: None,
        negative_log_likelihood: losses.into_iter().map(|loss| loss.map(rounded)).collect(),
    })
}
