//! Tree search as an event stream: routes found while it runs, then its answer.
//!
//! The search runs as long as a client reads the stream. A client that disconnects has some seconds to reconnect, to
//! any process; then the search is cancelled.

use axum::{extract::State, http::HeaderMap, response::Response};
use contract::{
    JobFailure, QuotaKind, StoredSearchResult, StoredTreeSearchJob, StreamEvent, TreeSearchRequest,
};
use http_errors::ApiError;
use queue::{AwaitError, Subscription};

use super::{View, validated};
use crate::{
    access::Caller,
    endpoints::{
        PathIdAndView,
        metered_search::{MeteredSearch, whole_seconds},
    },
    jobs::{Jobs, outcome_or_error},
    limits::Reservation,
    operation::Operation,
    streams::{Source, SourceRead, StreamContext, last_event},
};

/// Rules for continuing a stream.
pub const WATCH: Operation = Operation::short(None);

/// Continues the stream of a search.
#[utoipa::path(
    get, path = "/synth/v1/treesearch/{search_id}/events", tag = "tree search", operation_id = "watch_tree_search",
    description = "Resumes the stream of a search that was requested with `Accept: text/event-stream`, after the \
        event that `Last-Event-ID` names, or from the beginning without that header. Any process of the \
        service can resume it. Only the account that requested the search can, until some minutes after its \
        end. A search whose stream nobody reads for some seconds is cancelled. An account has at most 16 \
        open streams. An extension.",
    summary = "Watch a tree search",
    params(
        ("search_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the search, from the stream's `Content-Location`."),
        ("last-event-id" = u64, Header, minimum = 0, maximum = 9_007_199_254_740_991_u64,
            description = "Id of the last event that the client received."),
        ("view" = Option<String>, Query, description = View::DESCRIPTION),
    ),
    responses(
        (status = 200, description = "Events: `progress` (`SearchProgress`), `route` (`FoundRoute`), and as the \
            last one `answer` (`TreeSearchResult`, or `CompactResult`) or `problem` (`StreamProblem`). Resume a \
            stream that ends without either.",
        content_type = "text/event-stream", body = StreamEvent),
        (status = 404, description = "No stream of the caller's searches has this id, or it has been deleted."),
    ),
)]
pub async fn watch(
    State(jobs): State<Jobs>,
    caller: Caller,
    terms: StreamContext,
    PathIdAndView(id, view): PathIdAndView,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = last_event(&headers)?;
    let begin = async {
        let subscription =
            jobs.subscribe_to_search(&caller.account_id, &id).await?.ok_or(ApiError::NotFound)?;
        // The job no longer holds the requested numbers of backbones; the worker that made the answer respected them.
        Ok(SearchEventSource { subscription, view, groups: u32::MAX, group_size: u32::MAX, spending: None })
    };
    terms.open().await?.respond(&address(&id, view), after, begin).await
}

/// Starts the search `request` and streams its events.
pub(super) async fn begin(
    search: MeteredSearch,
    request: TreeSearchRequest,
    view: View,
    terms: StreamContext,
) -> Result<Response, ApiError> {
    let opened = terms.open().await?;
    let MeteredSearch { jobs, limits, deadlines, arrival, caller } = search;
    let (groups, group_size) = (request.max_backbone_groups, request.max_backbone_group_size);
    let most = whole_seconds(request.max_seconds);
    let spending =
        match limits.reserve(QuotaKind::SearchSeconds, &caller.account_id, &caller.quotas, most).await {
            Ok(spending) => spending,
            Err(refusal) => return Ok(refusal),
        };
    let subscribing = jobs.search_with_events(&caller.account_id, request);
    let subscription = match deadlines.search(arrival, f64::from(most), subscribing).await {
        Ok(subscription) => subscription,
        Err(error) => {
            spending.refund_unused(0);
            return Err(error);
        }
    };
    let address = address(subscription.id(), view);
    let events = SearchEventSource { subscription, view, groups, group_size, spending: Some(spending) };
    opened.respond(&address, 0, std::future::ready(Ok(events))).await
}

fn address(id: &str, view: View) -> String {
    format!("/synth/v1/treesearch/{id}/events{}", view.suffix())
}

/// Event source of a search.
struct SearchEventSource {
    subscription: Subscription<StoredTreeSearchJob>,
    /// View of the answer.
    view: View,
    /// Most backbones, and most variations of each, in the answer.
    groups: u32,
    group_size: u32,
    /// Rate-limit charge of the client that started the search; `None` when a stream is continued, which has nothing
    /// to refund.
    spending: Option<Reservation>,
}

impl SearchEventSource {
    /// Serialises the answer as the operation without a stream does.
    async fn answer(
        &mut self,
        outcome: Result<Result<StoredSearchResult, JobFailure>, AwaitError>,
    ) -> Result<String, ApiError> {
        let result = outcome_or_error(self.subscription.id(), outcome, "").map(StoredSearchResult::compact);
        if let Some(spending) = self.spending.take() {
            let used = result.as_ref().map_or(0, |result| whole_seconds(result.metadata.total_elapsed));
            spending.refund_unused(used);
        }
        self.view.written(validated(result?, self.groups, self.group_size)?).await
    }
}

impl Source for SearchEventSource {
    async fn read_after(&mut self, after: i64) -> Result<SourceRead, ApiError> {
        let seen = self.subscription.poll(after).await?;
        let end = match seen.end {
            Some(outcome) => Some(self.answer(outcome).await),
            None => None,
        };
        Ok(SourceRead { events: seen.events, end })
    }

    async fn wait_for_change(&mut self) {
        self.subscription.wait_for_change().await;
    }
}
