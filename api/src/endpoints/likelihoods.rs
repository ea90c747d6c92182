//! Likelihoods of given molecules under a generative model. An extension of the contract.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use contract::{Likelihoods, LikelihoodsRequest, MAX_LIKELIHOODS, QuotaKind, scope};
use http_errors::ApiError;

use super::{MAX_ID, answer_fault, bulk_queries::MAX_MOLECULE, samples::with_quota};
use crate::{
    access::Caller,
    examples::example,
    fields::{Faults, Fields, nullable, text, word},
    jobs::Jobs,
    limits::RateLimits,
    operation::{DeadlineKind, FaultExample, Operation},
};

/// Rules for computing likelihoods: those for creating a sample, which costs as much.
pub const CREATE: Operation = Operation {
    deadline: DeadlineKind::Sample,
    fault: Some(FaultExample::Missing("smiles")),
    ..Operation::with_body(Some(scope::SAMPLES_CREATE), QuotaKind::SamplesCreate)
};

/// Computes the likelihoods of molecules.
#[utoipa::path(
    post, path = "/generator/v1/likelihoods", tag = "samples", operation_id = "create_likelihoods",
    description = "Returns the negative log-likelihood of each of up to 1,000 molecules under a model: of its \
        canonical SMILES, in nats, at temperature 1 and without the constraints of sampling. A molecule counts as one \
        of the account's molecules per minute. An extension.",
    summary = "Compute likelihoods",
    request_body(content = LikelihoodsRequest),
    responses((status = 200, description = "The likelihood of each molecule.", body = Likelihoods, example = json!(example!("likelihoods")))),
)]
pub async fn create(
    State(jobs): State<Jobs>,
    State(limits): State<Arc<RateLimits>>,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let parsed = caller.body(request, parse).await?;
    let molecules = parsed.smiles.len();
    let count = u32::try_from(molecules).unwrap_or(u32::MAX);
    let computing = async {
        let answer = jobs.likelihoods(&caller.account_id, parsed).await?;
        if answer.items.len() != molecules {
            let msg = "the items do not match the request";
            return Err(ApiError::BadAnswer(vec![answer_fault("items", "response_invalid", msg)]));
        }
        Ok(answer)
    };
    let answer = with_quota(&limits, &caller, count, computing).await;
    Ok(answer.map_or_else(|refusal| refusal, |answer| Json(answer).into_response()))
}

pub(crate) fn parse(body: &[u8], faults: &mut Faults) -> Option<LikelihoodsRequest> {
    let mut body = Fields::body(body, faults)?;
    let smiles = body.required_list("smiles", MAX_LIKELIHOODS, text(0, Some(MAX_MOLECULE)));
    let model_id = body.optional("model_id", None, nullable(word(0, Some(MAX_ID))));
    body.finish();
    Some(LikelihoodsRequest { smiles: smiles?, model_id: model_id? })
}
