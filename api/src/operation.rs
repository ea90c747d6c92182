//! Rules of an operation: scope, rate limit, deadline, permit.
//!
//! They stand as a constant beside the handler. The middleware and the OpenAPI document read the same constant, so
//! that the document cannot say anything else than what is enforced.

use contract::QuotaKind;

/// Rules of one or more operations that need a token.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Scope that a token needs. The contract defines none for the tree search.
    pub scope: Option<&'static str>,
    /// Rate limit that a request counts against.
    pub quota: QuotaKind,
    pub deadline: DeadlineKind,
    pub permit: PermitUse,
    /// Example of a fault in the body.
    pub fault: Option<FaultExample>,
}

/// Deadline by the work that a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadlineKind {
    /// A few queries.
    Request,
    /// A sample that a worker draws.
    Sample,
    /// A search or a bulk query.
    Search,
    /// Up to a hundred thousand targets that are read and stored.
    Batch,
}

/// Use of the concurrency limit's permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermitUse {
    /// None, so that operators can read and act under overload.
    Unlimited,
    /// From the arrival to the response.
    WholeRequest,
    /// Until the caller is known. Then the request waits for its body or a worker, and takes another permit for its
    /// queries.
    Admission,
}

/// Fault of a field in a request's body, for the document.
#[derive(Debug, Clone, Copy)]
pub enum FaultExample {
    /// The field is required and absent.
    Missing(&'static str),
    /// The field is a number beyond its maximum.
    Above(&'static str, u32),
    /// The field is a number that has to be positive.
    NotPositive(&'static str),
}

impl Operation {
    /// Makes the rules of an operation that the database answers at once.
    pub const fn short(scope: Option<&'static str>) -> Self {
        Self {
            scope,
            quota: QuotaKind::Reads,
            deadline: DeadlineKind::Request,
            permit: PermitUse::WholeRequest,
            fault: None,
        }
    }

    /// Makes the rules of an operation that takes a body and counts against `quota`.
    pub const fn with_body(scope: Option<&'static str>, quota: QuotaKind) -> Self {
        Self { quota, permit: PermitUse::Admission, ..Self::short(scope) }
    }
}
