"""Uses every operation of the synthesis part of the package `pendingai` against a service."""

from importlib import metadata

from service import client, refused, until

from pendingai.exceptions import BadRequestException, NotFoundError, NotFoundException
from pendingai.models.synth import Search
from pendingai.services.synth.plans import PlanInterface

TARGET = "CCN(CC)CC(=O)Nc1c(C)cccc1C"
ENGINE = "uspto_retro"
synth = client.synth

assert synth.version()
engines = {engine.name: engine.queue_length for engine in synth.engines.list()}
assert engines == {ENGINE: 0, "thieme": 0}, engines
assert {"First", "Second"} <= {library.name for library in synth.libraries.list()}

# A search that is waited for.
search = synth.searches.create(TARGET, engine=ENGINE, max_seconds=20, mask_lead_times_gte=30)
assert search.search_smiles == TARGET
assert search.routes and len(search.routes) == len(search.route_prices)
for route in search.routes:
    kinds = {type(node.data).__name__ for node in route.nodes}
    assert kinds >= {"BuildingBlockNodeData", "MoleculeNodeData", "ReactionTemplateNodeData"}, kinds
    nodes = {node.id: node.data for node in route.nodes}
    for edge in route.edges:
        reactions = [hasattr(nodes[end], "template_id") for end in (edge.source, edge.target)]
        assert sorted(reactions) == [False, True], edge
    for data in nodes.values():
        if hasattr(data, "template_id"):
            assert data.rank >= 1 and 0 <= data.cosine_sim <= 1 and 0 <= data.path_cosine_dist <= 1
blocks = {node.data.building_block_idx for route in search.routes for node in route.nodes if getattr(node.data, "is_building_block", False)}
assert {offer.major_component_id for offer in search.pricing_annotations} == blocks
edges = {f"{edge.source}:{edge.target}" for route in search.routes for edge in route.edges}
assert edges == {edge for some in search.reagent_results["reaction_to_edges"].values() for edge in some}
assert synth.searches.create(TARGET).routes, "by the name that its command line knows"

# One without a route.
empty = synth.searches.create("[Xe]", engine=ENGINE, max_seconds=1)
assert (empty.routes, empty.pricing_annotations, empty.reagent_results) == ([], [], {})

# What is not there, and what is wrong.
refused((NotFoundException, NotFoundError), lambda: synth.searches.create(TARGET, engine="no_such_engine"))
refused(BadRequestException, lambda: synth.searches.create("C1CC", engine=ENGINE))
refused((NotFoundException, NotFoundError), lambda: synth.plans.retrieve("pln_none"))
refused((NotFoundException, NotFoundError), lambda: synth.batches.retrieve("bat_none"))

# A plan.
if hasattr(PlanInterface, "create"):
    plan = synth.plans.create(TARGET, engine=ENGINE, max_seconds=20, name="mine")
    assert (plan.status, plan.name, plan.batch_id) == ("pending", "mine", None), plan
    plan = synth.plans.wait(plan.id, timeout=60)
    assert plan.status == "completed", plan
    assert len(Search.model_validate(plan.result).routes) >= 1

# A batch.
smiles = [TARGET, "CCOC(=O)CCl", "CC(=O)Nc1c(C)cccc1C"]
batch = synth.batches.create(smiles, name="ours", description="three of them", engine=ENGINE, max_seconds=5)
assert (batch.name, batch.description, batch.plan_count) == ("ours", "three of them", 3)
assert [found.id for found in synth.batches.list(limit=1).items] == [batch.id]
until("all plans have ended", lambda: all(
    plan.status == "completed" for plan in synth.batches.retrieve_plans(batch.id).items))
first = synth.batches.retrieve_plans(batch.id, limit=2)
rest = synth.batches.retrieve_plans(batch.id, limit=2, starting_after=first.items[-1].id)
assert (first.has_next, first.has_previous, rest.has_next, rest.has_previous) == (True, False, False, True)
assert sorted(plan.parameters.search_smiles for plan in first.items + rest.items) == sorted(smiles)
back = synth.batches.retrieve_plans(batch.id, limit=2, ending_before=rest.items[0].id)
assert [plan.id for plan in back.items] == [plan.id for plan in first.items]
for plan in first.items + rest.items:
    whole = synth.batches.retrieve_plan(batch.id, plan.id)
    assert Search.model_validate(whole.result).search_smiles
    assert synth.plans.retrieve(plan.id).status == "completed"
gone = synth.batches.delete(batch.id)
assert (gone.id, gone.deleted) == (batch.id, True)
refused((NotFoundException, NotFoundError), lambda: synth.batches.retrieve(batch.id))

print(metadata.version("pendingai"), "all of it works")
