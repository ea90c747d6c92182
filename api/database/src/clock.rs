//! The database's clock, which decides what is old enough to be deleted.
//!
//! A clock that is set years ahead would make everything old at once. So every deletion by age first notes the time (`sweep_clock`). A note
//! that is a week old means that the clock has jumped or that nothing ran for a week. The database cannot tell these apart. It deletes
//! nothing for a day, and one warning says so. Deletion goes on as soon as an operator corrects the clock.

use sqlx::PgPool;

/// Records the time, and returns true if the clock has not jumped ahead within the last day, so that old rows may be
/// deleted.
///
/// # Errors
/// Fails when the database does.
pub async fn is_clock_steady(pool: &PgPool) -> Result<bool, sqlx::Error> {
    let clock = sqlx::query!(
        r#"update sweep_clock set
            seen_at = now(),
            jumped_at = case
                when now() > seen_at + interval '7 days' then now()
                when now() between jumped_at and jumped_at + interval '1 day' then jumped_at
            end
        returning jumped_at is null as "is_steady!", coalesce(jumped_at = now(), false) as "has_just_jumped!""#
    )
    .fetch_one(pool)
    .await?;
    if clock.has_just_jumped {
        tracing::warn!(
            "the database's clock is a week or more ahead of when anything was last deleted for its age: nothing is deleted for a day. \
            Correct the clock if it is wrong; if nothing ran for that long, there is nothing to do"
        );
    }
    Ok(clock.is_steady)
}
