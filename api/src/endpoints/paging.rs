//! Paging of lists by two cursors, the newest items first.

use axum::http::Uri;
use contract::{Listed, Page};
use http_errors::{ApiError, query_pairs};
use sqlx::PgPool;

use super::MAX_ID;
use crate::fields::{Faults, Fields, integer, nullable, word};

/// Page size and the two cursors: for older and for newer items.
pub type ListQuery = (i64, Option<String>, Option<String>);

/// Parses `limit`, `starting_after` and `ending_before`.
pub fn parse_list(pairs: Vec<(String, String)>, faults: &mut Faults) -> Option<ListQuery> {
    parse(pairs, 10, ["starting_after", "ending_before"], faults)
}

/// Parses `limit`, with the default `usual`, and `next-page` and `prev-page`, the sampling API's names.
pub fn parse_pages(pairs: Vec<(String, String)>, usual: i64, faults: &mut Faults) -> Option<ListQuery> {
    parse(pairs, usual, ["next-page", "prev-page"], faults)
}

fn parse(
    pairs: Vec<(String, String)>,
    usual: i64,
    [after, before]: [&str; 2],
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
pub enum Direction {
    Older,
    Newer,
}

/// Requested page of a list.
#[derive(Debug)]
pub struct PageRequest {
    /// Cursor; `None` is the newest page.
    pub from: Option<String>,
    pub direction: Direction,
    /// Page size plus one, which shows if there are more.
    pub count: i64,
}

impl PageRequest {
    /// Parses the query of `uri`: `limit`, `starting_after` and `ending_before`.
    ///
    /// # Errors
    /// Fails when the query is invalid or both cursors are given.
    pub fn of(uri: &Uri) -> Result<Self, ApiError> {
        let mut faults = Faults::default();
        let query = parse_list(query_pairs(uri), &mut faults);
        Self::new(faults.settle(query)?)
    }

    /// Builds the page from parsed parts.
    ///
    /// # Errors
    /// Fails when both cursors are given.
    pub fn new((limit, after, before): ListQuery) -> Result<Self, ApiError> {
        let (from, direction) = match (after, before) {
            (Some(_), Some(_)) => return Err(ApiError::BadReference),
            (None, Some(id)) => (Some(id), Direction::Newer),
            (after, None) => (after, Direction::Older),
        };
        Ok(Self { from, direction, count: limit + 1 })
    }

    /// Returns the ids of the page of the list `table` for `reader`, the nearest to the cursor first; `None` if the
    /// cursor is not in the list (`list_page`, in `migrations/0036_bounds.sql`).
    pub async fn ids(
        &self,
        pool: &PgPool,
        table: &str,
        reader: &str,
    ) -> Result<Option<Vec<String>>, sqlx::Error> {
        sqlx::query_scalar!(
            "select list_page($1, $2, $3, $4, $5)",
            table,
            reader,
            self.from.as_deref(),
            self.direction == Direction::Newer,
            self.count
        )
        .fetch_one(pool)
        .await
    }

    /// Returns the positions of the page for a cursor at the position `from`: the least, the greatest, and the sign
    /// that sorts the nearest first.
    pub fn places(&self, from: Option<i32>) -> (i32, i32, i32) {
        match self.direction {
            Direction::Older => (0, from.map_or(i32::MAX, |from| from - 1), -1),
            Direction::Newer => (from.map_or(0, |from| from.saturating_add(1)), i32::MAX, 1),
        }
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

    fn asked(after: Option<&str>, before: Option<&str>) -> PageRequest {
        PageRequest::new((2, after.map(str::to_owned), before.map(str::to_owned))).unwrap()
    }

    #[test]
    fn a_page_says_whether_there_is_more_on_either_side() {
        let told = |asked: PageRequest, found: &[u8]| {
            let page = asked.page(found.to_vec());
            (page.items, page.has_next, page.has_previous)
        };

        assert_eq!(told(asked(None, None), &[9, 8, 7]), (vec![9, 8], true, false));
        assert_eq!(told(asked(None, None), &[9]), (vec![9], false, false));
        assert_eq!(told(asked(Some("8"), None), &[7, 6]), (vec![7, 6], false, true));
        assert_eq!(told(asked(None, Some("6")), &[7, 8, 9]), (vec![8, 7], true, true));
        assert_eq!(told(asked(None, Some("7")), &[8, 9]), (vec![9, 8], true, false));
    }

    #[test]
    fn a_list_of_the_sampling_api_says_whether_there_is_more_in_the_direction_of_travel() {
        let told = |asked: PageRequest, found: &[u8]| asked.listed(found.to_vec()).has_more;

        assert!(told(asked(None, None), &[9, 8, 7]));
        assert!(!told(asked(Some("8"), None), &[7, 6]));
        assert!(told(asked(None, Some("6")), &[7, 8, 9]));
        assert!(!told(asked(None, Some("7")), &[8, 9]));
    }

    #[test]
    fn a_page_cannot_lie_on_both_sides() {
        assert!(PageRequest::new((2, Some("a".to_owned()), Some("b".to_owned()))).is_err());
    }
}
