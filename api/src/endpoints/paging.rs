//! Paging of lists by two cursors, the newest items first.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::Uri,
};
use contract::{Listed, Page};
use http_errors::{ApiError, query_pairs};
use sqlx::PgPool;

use super::{MAX_ID, named_path_id};
use crate::{
    access::Caller,
    fields::{Faults, Fields, integer, nullable, word},
};

/// Page size and the two cursors: for older and for newer items.
pub type ListQuery = (i64, Option<String>, Option<String>);

/// Query of a list: the default page size, and the names of the two cursors.
#[derive(Debug, Clone, Copy)]
pub struct ListStyle(i64, [&'static str; 2]);

/// Lists of the planning API.
pub const PLANNING: ListStyle = ListStyle(10, ["starting_after", "ending_before"]);

/// Lists of the sampling API, with the default page size `usual`.
pub const fn sampling(usual: i64) -> ListStyle {
    ListStyle(usual, ["next-page", "prev-page"])
}

/// Parses the query of a list.
pub fn parse(
    pairs: Vec<(String, String)>,
    ListStyle(usual, [after, before]): ListStyle,
    faults: &mut Faults,
) -> Option<ListQuery> {
    let mut query = Fields::query(pairs, faults);
    let limit = query.optional("limit", usual, integer(1, Some(100)));
    let after = query.optional(after, None, nullable(word(1, Some(MAX_ID))));
    let before = query.optional(before, None, nullable(word(1, Some(MAX_ID))));
    query.finish();
    Some((limit?, after?, before?))
}

/// Direction of a page from its cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Older,
    Newer,
}

/// Requested page of a list.
#[derive(Debug)]
pub struct PageRequest {
    /// Cursor; `None` is the newest page.
    pub from: Option<String>,
    direction: Direction,
    /// Page size plus one, which shows if there are more.
    pub count: i64,
}

impl PageRequest {
    /// Parses the query of `uri`.
    ///
    /// # Errors
    /// Fails when the query is invalid or both cursors are given.
    pub fn of(uri: &Uri, style: ListStyle) -> Result<Self, ApiError> {
        let mut faults = Faults::default();
        let query = parse(query_pairs(uri), style, &mut faults);
        Self::new(faults.settle(query)?)
    }

    /// Parses the batch's id in `path` and the query of `uri`.
    ///
    /// # Errors
    /// Fails when one of them is invalid or both cursors are given.
    pub fn of_batch(
        path: Result<Path<String>, PathRejection>,
        uri: &Uri,
        style: ListStyle,
    ) -> Result<(String, Self), ApiError> {
        let mut faults = Faults::default();
        let id = named_path_id("batch_id", path, &mut faults);
        let query = parse(query_pairs(uri), style, &mut faults);
        let (id, query) = faults.settle(id.zip(query))?;
        Ok((id, Self::new(query)?))
    }

    /// Builds the page from parsed parts.
    ///
    /// # Errors
    /// Fails when both cursors are given.
    fn new((limit, after, before): ListQuery) -> Result<Self, ApiError> {
        let (from, direction) = match (after, before) {
            (Some(_), Some(_)) => return Err(ApiError::BadReference),
            (None, Some(id)) => (Some(id), Direction::Newer),
            (after, None) => (after, Direction::Older),
        };
        Ok(Self { from, direction, count: limit + 1 })
    }

    /// Returns the ids of the page of the list `table` for `caller`, the nearest to the cursor first; `None` if the
    /// cursor is not in the list (`list_page`, in `migrations/0036_bounds.sql`).
    pub async fn ids(
        &self,
        pool: &PgPool,
        table: &str,
        caller: &Caller,
    ) -> Result<Option<Vec<String>>, sqlx::Error> {
        sqlx::query_scalar!(
            "select list_page($1, $2, $3, $4, $5)",
            table,
            caller.account_id,
            self.from.as_deref(),
            self.is_newer(),
            self.count
        )
        .fetch_one(pool)
        .await
    }

    /// Returns true if the items after the cursor in time are requested.
    pub fn is_newer(&self) -> bool {
        self.direction == Direction::Newer
    }

    /// Builds the page from items in the requested direction, the nearest to the cursor first.
    pub fn page<T>(&self, mut items: Vec<T>) -> Page<T> {
        let limit = usize::try_from(self.count - 1).unwrap_or_default();
        let has_more = items.len() > limit;
        items.truncate(limit);
        let (has_next, has_previous) = match self.direction {
            Direction::Older => (has_more, self.from.is_some()),
            Direction::Newer => {
                items.reverse();
                (true, has_more)
            }
        };
        Page { object: Default::default(), items, has_next, has_previous }
    }

    /// Builds the same page in the form of the sampling API.
    pub fn listed<T>(&self, items: Vec<T>) -> Listed<T> {
        let Page { items: data, has_next, has_previous, object } = self.page(items);
        let has_more = match self.direction {
            Direction::Older => has_next,
            Direction::Newer => has_previous,
        };
        Listed { data, has_more, object }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(after: Option<&str>, before: Option<&str>) -> PageRequest {
        PageRequest::new((2, after.map(str::to_owned), before.map(str::to_owned))).unwrap()
    }

    #[test]
    fn a_page_says_whether_there_is_more_on_either_side() {
        let listed = |request: PageRequest, found: &[u8]| {
            let page = request.page(found.to_vec());
            (page.items, page.has_next, page.has_previous)
        };

        assert_eq!(listed(request(None, None), &[9, 8, 7]), (vec![9, 8], true, false));
        assert_eq!(listed(request(None, None), &[9]), (vec![9], false, false));
        assert_eq!(listed(request(Some("8"), None), &[7, 6]), (vec![7, 6], false, true));
        assert_eq!(listed(request(None, Some("6")), &[7, 8, 9]), (vec![8, 7], true, true));
        assert_eq!(listed(request(None, Some("7")), &[8, 9]), (vec![9, 8], true, false));
    }

    #[test]
    fn a_list_of_the_sampling_api_says_whether_there_is_more_in_the_direction_of_travel() {
        let listed = |request: PageRequest, found: &[u8]| request.listed(found.to_vec()).has_more;

        assert!(listed(request(None, None), &[9, 8, 7]));
        assert!(!listed(request(Some("8"), None), &[7, 6]));
        assert!(listed(request(None, Some("6")), &[7, 8, 9]));
        assert!(!listed(request(None, Some("7")), &[8, 9]));
    }

    #[test]
    fn a_page_cannot_lie_on_both_sides() {
        assert!(PageRequest::new((2, Some("a".to_owned()), Some("b".to_owned()))).is_err());
    }
}
