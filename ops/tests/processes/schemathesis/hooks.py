"""What a schema cannot say of a good request, for schemathesis: a target is a SMILES, a model or an engine is one that somebody serves, a
cursor is a sample that the account has, and there is one of them at most.

Only what schemathesis means to be good is touched, so that each of it has to be accepted. What it breaks stays broken.
"""

import os

import schemathesis
from schemathesis import GenerationMode

TARGETS = ["CC(=O)Nc1ccc(O)cc1", "CCN(CC)CC(=O)Nc1c(C)cccc1C", "C", "[Na+]"]
CURSORS = ["next-page", "prev-page"]
PAGES = ["starting_after", "ending_before"]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    if isinstance(case.body, dict) and "search_smiles" in case.body:
        case.body["search_smiles"] = TARGETS[len(case.body["search_smiles"]) % len(TARGETS)]
    if isinstance(case.body, dict) and isinstance(case.body.get("parameters"), dict):
        parameters = case.body["parameters"]
        if "search_smiles" in parameters:
            parameters["search_smiles"] = TARGETS[len(parameters["search_smiles"]) % len(TARGETS)]
        parameters["engine"] = os.environ["RETORT_ENGINE"]
    if isinstance(case.body, dict) and isinstance(case.body.get("smiles"), list):
        case.body["smiles"] = [TARGETS[len(str(smiles)) % len(TARGETS)] for smiles in case.body["smiles"]]
    if case.path_parameters and "engine" in case.path_parameters:
        case.path_parameters["engine"] = os.environ["RETORT_ENGINE"]
    if case.operation.label.startswith("GET /synth-batches/v1/batches"):
        # There is no batch to begin at.
        for name in PAGES:
            case.query.pop(name, None)
    if isinstance(case.body, dict) and case.body.get("model_id") is not None:
        case.body["model_id"] = os.environ["RETORT_MODEL"]
    if case.operation.label == "GET /generator/v1/samples":
        named = [name for name in CURSORS if case.query.get(name) is not None]
        for name in named[:1]:
            case.query[name] = os.environ["RETORT_SAMPLE"]
        for name in named[1:]:
            del case.query[name]
