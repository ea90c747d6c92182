"""What a schema cannot say of a good request, for schemathesis: a target is a SMILES, a model or an engine is one that somebody serves, a
cursor is a sample that the account has or a model, and there is one of them at most.

Only what schemathesis means to be good is touched, so that each of it has to be accepted. What it breaks stays broken.
"""

import os
import uuid

import schemathesis
from schemathesis import GenerationMode

TARGETS = ["CC(=O)Nc1ccc(O)cc1", "CCN(CC)CC(=O)Nc1c(C)cccc1C", "C", "[Na+]"]
CURSORS = ["next-page", "prev-page"]
PAGES = ["starting_after", "ending_before"]
# What constrains a search: none of it keeps the targets from being searched for.
CONSTRAINTS = {
    "fragments_to_keep": "c1ccccc1",
    "molecules_never": "CO",
    "substructures_never": "[#6]Cl",
    "building_blocks_required": "CN",
    "reaction_classes_only": "amide coupling",
    "reaction_classes_never": "nitration",
    "reaction_classes_required": "amide coupling",
}
# A target that is bought as it is.
BOUGHT = {
    "smiles": "CN", "mw": 31.058, "is_building_block": True, "building_block_idx": 1, "closest_building_block": 1.0, "depth": 0,
    "expanded": False, "in_solution_path": True,
}
ROUTE = {"directed": True, "multigraph": False, "nodes": [{"id": "n", "data": BOUGHT, "essential": True, "only_for": None}], "edges": []}
# A step to a molecule that takes that one.
MADE = BOUGHT | {"smiles": "CNC(C)=O", "mw": 73.095, "is_building_block": False, "building_block_idx": None, "expanded": True}
TAKES = {
    "source": "m", "target": "n", "plausibility": 0.5, "reaction_class": "amide coupling", "reaction_category": "other", "template": "t",
    "probability": 0.5, "precedents": 1, "patents": [], "conditions": {"reagents": {}, "catalysts": {}, "solvents": {}},
    "precedent_similarity": None, "warnings": [],
}
STEP = {
    "directed": True, "multigraph": False, "edges": [TAKES],
    "nodes": [
        {"id": "m", "data": MADE, "essential": True, "only_for": None},
        {"id": "n", "data": BOUGHT | {"depth": 1}, "essential": True, "only_for": "m"},
    ],
}


def constrain(request):
    """Constraints that say something, as many as there were; the targets have no numbered atoms, whose bonds could be named."""
    for name in ["bonds_to_break", "bonds_to_keep"]:
        if request.get(name):
            request[name] = []
    for name, value in CONSTRAINTS.items():
        if request.get(name):
            request[name] = [value] * len(request[name])
    for block in request.get("building_blocks_own") or []:
        block["smiles"] = "CN"


# What the molecules of a sample may have to be: each of it leaves most of them, and is an addition that says nothing alone.
CONDITIONS = {
    "substructures_required": "[#6]", "substructures_never": "[U]", "similar_to": "CCO", "exclude": None, "fragments": None,
    "scaffold": None, "similarity_gte": 0.0, "similarity_lt": 1.0, "temperature": 1.0, "top_p": 0.9,
}

# Operations whose bodies have conditions.
CONDITIONED = ["POST /generator/v1/samples", "POST /generator/v1/sample-batches"]

# Limits on the routes to the molecules of a sample, which keep none of them out.
LIMITS = {"max_steps": 50, "max_usd_per_mol": 1e12, "max_lead_time_days": 3650.0, "ships_to": None}


def condition(request):
    """Conditions that nearly every molecule satisfies, as many as there were."""
    for name, value in CONDITIONS.items():
        if request.get(name) is None:
            continue
        if value is None:
            del request[name]
        elif isinstance(request[name], list):
            request[name] = [value] * len(request[name])
        else:
            request[name] = value
    if not request.get("similar_to"):
        request.pop("similarity_gte", None)
        request.pop("similarity_lt", None)
    elif request.get("similarity_gte") is None and request.get("similarity_lt") is None:
        request["similarity_gte"] = 0.0
    if request.get("synthesizable") is not None:
        # Each candidate is searched for, and not all of them can be made.
        request["size"] = 1
        for name in LIMITS.keys() & request["synthesizable"].keys():
            request["synthesizable"][name] = LIMITS[name]
    request.pop("alerts", None)
    for name in request.get("properties") or {}:
        if request["properties"][name] is not None:
            request["properties"][name] = {"gte": -1000.0, "lte": 100000.0}


# Longer texts and lists are made of megabytes whose making takes most of the time; a test of the API keeps their bounds.
MOST = {"maxLength": 1000, "maxItems": 20}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    parts = [raw_schema]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            for name, most in MOST.items():
                if isinstance(part.get(name), int) and part[name] > most:
                    del part[name]
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    # Cases of its phase "coverage" are good as a whole and may have a part that is not.
    if any(part.mode != GenerationMode.POSITIVE for part in case.meta.components.values()):
        return
    if case.headers and "idempotency-key" in case.headers:
        # A key is for one request.
        case.headers["idempotency-key"] = str(uuid.uuid4())
    if isinstance(case.body, dict) and "search_smiles" in case.body:
        constrain(case.body)
        case.body["search_smiles"] = TARGETS[len(case.body["search_smiles"]) % len(TARGETS)]
    if isinstance(case.body, dict) and isinstance(case.body.get("parameters"), dict):
        parameters = case.body["parameters"]
        constrain(parameters)
        if "search_smiles" in parameters:
            parameters["search_smiles"] = TARGETS[len(parameters["search_smiles"]) % len(TARGETS)]
        parameters["engine"] = os.environ["RETORT_ENGINE"]
        # No search has been asked for as a stream.
        case.body.pop("search_id", None)
    if case.operation.label == "POST /synth/v1/routes" and isinstance(case.body, dict):
        case.body["parameters"].pop("engine", None)
        case.body["parameters"]["search_smiles"] = ROUTE["nodes"][0]["data"]["smiles"]
        case.body["route"] = ROUTE
        case.body["pricing_annotations"] = []
    if case.operation.label == "POST /synth/v1/analogues" and isinstance(case.body, dict):
        case.body |= {"route": STEP, "building_block": BOUGHT["smiles"]}
    if case.operation.label in CONDITIONED and isinstance(case.body, dict):
        condition(case.body)
    if isinstance(case.body, dict) and isinstance(case.body.get("smiles"), list):
        case.body["smiles"] = [TARGETS[len(str(smiles)) % len(TARGETS)] for smiles in case.body["smiles"]]
        if isinstance(case.body.get("names"), list):
            # One for each molecule, as the document says in words alone.
            many = len(case.body["smiles"])
            case.body["names"] = (case.body["names"] + [None] * many)[:many]
    if case.operation.label == "POST /synth/v1/building-blocks/search" and isinstance(case.body, dict):
        for way in ["smiles", "similar_to", "substructure"]:
            if way in case.body:
                case.body[way] = TARGETS[len(case.body[way]) % len(TARGETS)]
    if isinstance(case.body, dict) and case.body.get("engine") is not None:
        case.body["engine"] = os.environ["RETORT_ENGINE"]
    if case.path_parameters and "engine" in case.path_parameters:
        case.path_parameters["engine"] = os.environ["RETORT_ENGINE"]
    if case.operation.label.startswith(("GET /synth-batches/v1/", "GET /synth/v1/routes")):
        # There is nothing to begin at.
        for name in PAGES:
            case.query.pop(name, None)
    if isinstance(case.body, dict) and case.body.get("model_id") is not None:
        case.body["model_id"] = os.environ["RETORT_MODEL"]
    if case.operation.label == "POST /generator/v1/generate/{model_id}":
        case.path_parameters["model_id"] = os.environ["RETORT_MODEL"]
    if case.operation.label.startswith("GET /generator/v1/sample-batches"):
        # There is no batch to begin at.
        for name in CURSORS:
            case.query.pop(name, None)
    beginning = {"GET /generator/v1/samples": "RETORT_SAMPLE", "GET /generator/v1/models": "RETORT_MODEL"}
    if case.operation.label in beginning:
        named = [name for name in CURSORS if case.query.get(name) is not None]
        for name in named[:1]:
            case.query[name] = os.environ[beginning[case.operation.label]]
        for name in named[1:]:
            del case.query[name]
