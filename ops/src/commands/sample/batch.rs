//! Drawing as a batch of the service, which continues without this command.

use std::time::Instant;

use contract::{SampleBatch, SampleBatchRequest};

use super::{SampleArgs, unknown_model};
use crate::{
    batches::leave_on_interrupt, failure::Failure, sample_batches, sample_file::SampleOutput,
    service::Service, terminal,
};

impl SampleArgs {
    /// Creates a batch or comes back to one, and writes its molecules as they are made.
    pub(super) async fn as_batch(&self, service: &Service, output: SampleOutput) -> Result<(), Failure> {
        let batch = match &self.from_batch {
            Some(id) => sample_batches::retrieve(service, id).await?,
            None => self.create_batch(service).await?,
        };
        let come_back = format!("`retort sample --from-batch {}` comes back to it", batch.id);
        if self.from_batch.is_none() {
            terminal::note(&format!("batch {} of {} molecules; {come_back}", batch.id, batch.size));
        }
        leave_on_interrupt(self.write(service, &batch, output), &come_back).await
    }

    async fn create_batch(&self, service: &Service) -> Result<SampleBatch, Failure> {
        let request = SampleBatchRequest {
            size: self.size.unwrap_or_default(),
            model_id: self.model.clone(),
            conditions: self.conditions.of_call(0),
            details: self.details,
        };
        match sample_batches::create(service, &request).await {
            Err(Failure::NotThere) => Err(unknown_model(service, self.model.as_deref()).await),
            answer => answer,
        }
    }

    async fn write(
        &self,
        service: &Service,
        batch: &SampleBatch,
        mut output: SampleOutput,
    ) -> Result<(), Failure> {
        let started = Instant::now();
        let bar = terminal::bar(batch.size.unsigned_abs().into(), "sampling");
        let (mut count, mut failures) = (0, Vec::new());
        let followed = sample_batches::follow(service, &batch.id, |chunk| {
            if let Some(error) = chunk.error {
                failures.push(error);
                return Ok(());
            }
            count += chunk.smiles.len();
            bar.set_position(count as u64);
            bar.suspend(|| output.add(chunk))
        });
        let followed = followed.await;
        bar.finish_and_clear();
        followed?;
        output.finish()?;

        let file =
            self.out.as_ref().map(|file| format!("; written to {}", file.display())).unwrap_or_default();
        let seconds = started.elapsed().as_secs_f64();
        terminal::note(&format!("{count} molecules in {seconds:.2} s, kept as {}{file}", batch.id));
        match failures.first() {
            None => Ok(()),
            Some(error) => Err(Failure::Partly(format!(
                "{} of the {} chunks failed: {error}",
                failures.len(),
                batch.chunk_count
            ))),
        }
    }
}
