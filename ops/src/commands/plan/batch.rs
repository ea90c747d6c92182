//! Planning as a batch of the service, which continues without this command and can be resumed.

use std::collections::HashMap;

use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::{PlanArgs, Tally};
use crate::{
    batches::{self, leave_on_interrupt},
    failure::Failure,
    formats::{self, RouteFormat, RouteOutput},
    planned::PlannedTarget,
    service::Service,
    targets::{Target, check},
    terminal,
};

/// Number of results that are fetched concurrently.
const CONCURRENT_FETCHES: usize = 4;

impl PlanArgs {
    /// Creates a batch of `targets` or resumes one, waits until it is done, and writes the results.
    pub(super) async fn as_batch(
        &self,
        service: &Service,
        targets: &[Target],
        format: RouteFormat,
    ) -> Result<Tally, Failure> {
        let id = match &self.resume {
            Some(id) if batches::is_of_samples(id) => {
                let advice = format!("{id} is a sample batch, which `retort sample --from-batch {id}` reads");
                return Err(Failure::Usage(advice));
            }
            Some(id) => id.clone(),
            None => self.create_batch(service, targets).await?,
        };
        let come_back = format!("`retort plan --resume {id}` comes back to it");
        leave_on_interrupt(self.follow_and_write(service, &id, targets, format), &come_back).await
    }

    /// Stores the batch.
    async fn create_batch(&self, service: &Service, targets: &[Target]) -> Result<String, Failure> {
        // Targets from files were checked earlier. One invalid target on the command line would make the service
        // refuse the whole batch.
        for target in &self.smiles {
            check(target).map_err(|reason| Failure::Usage(format!("{target}: {reason}")))?;
        }
        if targets.is_empty() {
            return Err(Failure::Usage("there is no target to plan".to_owned()));
        }
        let spinner = terminal::spinner(format!("storing {} targets", targets.len()));
        let stored =
            batches::create(service, targets, &self.asked.request(""), self.batch_name.as_deref()).await;
        spinner.finish_and_clear();
        let batch = stored?;
        terminal::note(&format!(
            "batch {} of {} targets; `retort plan --resume {}` comes back to it",
            batch.id, batch.plan_count, batch.id
        ));
        Ok(batch.id)
    }

    async fn follow_and_write(
        &self,
        service: &Service,
        id: &str,
        targets: &[Target],
        format: RouteFormat,
    ) -> Result<Tally, Failure> {
        let bar = terminal::service_progress_bar("planning");
        let followed = batches::follow(service, id, |progress| {
            let ended = progress.completed + progress.failed + progress.cancelled;
            bar.set_length((ended + progress.pending + progress.processing).unsigned_abs());
            bar.set_position(ended.unsigned_abs());
            bar.set_message(terminal::time_left(progress.seconds_left));
        });
        let followed = followed.await;
        bar.finish_and_clear();
        followed?;

        let plans = batches::plans(service, id).await?;
        let names = names(targets);
        let bar = terminal::bar(plans.len() as u64, "fetching");
        let mut output = RouteOutput::open(format, formats::TargetCount::Several, self.out.as_deref())?;
        let mut tally = Tally::default();
        let found = stream::iter(plans).map(async |plan| {
            let outcome = batches::outcome(service, &plan).await?;
            let request = plan.request();
            // Batches of earlier versions store no names; the user may pass the input file again.
            let name = names.get(request.search_smiles.as_str()).map(|name| (*name).to_owned());
            let name = plan.name.clone().or(name);
            Ok::<_, Failure>(PlannedTarget { name, asked: request, outcome })
        });
        let mut found = std::pin::pin!(found.buffered(CONCURRENT_FETCHES));
        while let Some(planned) = found.try_next().await? {
            tally.count(&planned);
            output.add(planned)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        output.finish()?;
        Ok(tally)
    }
}

/// Maps SMILES to names. The SMILES are as the user wrote them, because the service returns them unchanged.
fn names(targets: &[Target]) -> HashMap<&str, &str> {
    let named = targets.iter().filter_map(|target| Some((target.smiles.as_str(), target.name.as_deref()?)));
    // If a target has two names, the first one counts.
    named.rev().collect()
}
