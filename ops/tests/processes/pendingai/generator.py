"""Uses every operation of the generator part of the package `pendingai` against a service."""

import time
from importlib import metadata

from service import client, refused, until

from pendingai.exceptions import BadRequestException, NotFoundError, NotFoundException
from pendingai.services.generator.generate import GenerateInterface

MODEL = "leadlike_gru"
generator = client.generator


def is_gone(call):
    refused((NotFoundException, NotFoundError), call)


assert generator.version()

# Models.
models = generator.models.list(limit=100).data
assert MODEL in [model.id for model in models]
if len(models) > 1:
    first = generator.models.list(limit=1).data
    second = generator.models.list(limit=1, next_page=first[0].id).data
    assert [first[0].id, second[0].id] == [model.id for model in models[:2]]
    assert generator.models.list(limit=1, prev_page=second[0].id).data[0].id == first[0].id
model = generator.models.retrieve(MODEL)
assert model.name and model.version and model.description, model
assert 0.9 <= model.summary["validity"] <= 1 and model.metadata["architecture"], model
until("the model is online", lambda: generator.models.status(MODEL).status == "online")
is_gone(lambda: generator.models.retrieve("no_such_model"))
is_gone(lambda: generator.models.status("no_such_model"))

# A sample that is waited for.
sample = generator.samples.create(MODEL, 30)
assert (sample.status, sample.batch_id, sample.error, sample.model_id) == ("completed", None, None, MODEL), sample
assert len(set(sample.smiles)) == 30
assert len(generator.samples.create(size=5).smiles) == 5
refused(BadRequestException, lambda: generator.samples.create("no_such_model", 5))

# One that is collected.
if hasattr(generator.samples, "retrieve"):
    ordered = generator.samples.create(MODEL, 30, respond_async=True)
    assert ordered.status in ("pending", "processing", "completed"), ordered
    until("it is made", lambda: generator.samples.retrieve(ordered.id).status == "completed")
    assert len(set(generator.samples.retrieve(ordered.id).smiles)) == 30
    is_gone(lambda: generator.samples.retrieve("smp_none"))

# The older short form.
generate = GenerateInterface(client._base_requestor, client.session)
assert len(generate.call(n=20).smiles) == 20
assert len(generate.call(MODEL, n=3).smiles) == 3
is_gone(lambda: generate.call("no_such_model", n=3))

# A batch.
batch = generator.sample_batches.create(MODEL, 1_100)
assert (batch.size, batch.chunk_count, batch.chunks_created, batch.model_id) == (1_100, 3, True, MODEL), batch
assert [found.id for found in generator.sample_batches.list(limit=1).data] == [batch.id]
until("it is made", lambda: generator.sample_batches.retrieve(batch.id).status == "completed")
made = generator.sample_batches.retrieve(batch.id)
assert (made.completed_chunks, made.failed_chunks) == (3, 0), made
first = generator.sample_batches.retrieve_samples(batch.id, limit=2)
rest = generator.sample_batches.retrieve_samples(batch.id, limit=2, next_page=first.data[-1].id)
assert (len(first.data), first.has_more, len(rest.data), rest.has_more) == (2, True, 1, False)
back = generator.sample_batches.retrieve_samples(batch.id, limit=2, prev_page=rest.data[0].id)
assert [chunk.id for chunk in back.data] == [chunk.id for chunk in first.data]
chunks = first.data + rest.data
assert all(chunk.status == "completed" and chunk.batch_id == batch.id for chunk in chunks)
molecules = [smiles for chunk in chunks for smiles in chunk.smiles]
assert (len(molecules), len(set(molecules))) == (1_100, 1_100)
other = generator.sample_batches.create(size=1)
assert [found.id for found in generator.sample_batches.list(limit=1, next_page=other.id).data] == [batch.id]
assert [found.id for found in generator.sample_batches.list(limit=1, prev_page=batch.id).data] == [other.id]
for found in (batch, other):
    gone = generator.sample_batches.delete(found.id)
    assert (gone.id, gone.deleted) == (found.id, True)
    is_gone(lambda: generator.sample_batches.retrieve(found.id))

print(metadata.version("pendingai"), "all of it works")
