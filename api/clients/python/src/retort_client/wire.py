"""The bodies of the service, as its OpenAPI document describes them.

Objects are frozen and keep fields that this version does not know (`model_extra`), since the service adds fields and never renames
any. `null` and a field that is not there are both `None`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, RootModel
from typing_extensions import NotRequired, TypedDict

NATIVE_RESULT = "application/vnd.retort.treesearch+json"
"""Media type of bodies in which the result of a search is a `TreeSearchResult`."""

ExportFormat = Literal["aizynth", "retrocast"]
"""Programs in whose format the service writes routes: AiZynthFinder's trees, RetroCast's predictions."""

ExportedRoutes: TypeAlias = list[Any] | dict[str, Any]
"""A list of trees for AiZynthFinder, best first; ranked routes by target for RetroCast."""

Country = Literal["US", "CA", "GB", "FR", "CH", "DE", "CN", "AU"]
"""Countries to which building blocks are delivered."""


class Body(BaseModel):
    """Base of all bodies."""

    model_config = ConfigDict(frozen=True, extra="allow", protected_namespaces=())


class Identified(Body):
    """Something that is found again by its id."""

    id: str


class RouteDetails(Body):
    """Summaries of the routes to a sample's molecules, in the order of its `smiles`."""

    steps: tuple[int, ...]
    """Reaction steps; 0 for a molecule that can itself be bought."""
    usd_per_mol: tuple[float | None, ...]
    """USD of the building blocks for a mole; `None` where one has no known price."""
    building_blocks: tuple[int, ...]
    """Numbers of different building blocks."""
    plausibility: tuple[float, ...]
    """Probabilities, from 0 to 1, that every step gives its product."""


class MoleculeDetails(Body):
    """Details of a sample's molecules, in the order of its `smiles`."""

    properties: Mapping[str, tuple[float, ...]]
    """Values of each property, by its name."""
    negative_log_likelihood: tuple[float | None, ...]
    """In nats under the model; `None` for a molecule that the model cannot write."""
    routes: RouteDetails | None = None
    """There in a sample with the condition `synthesizable`."""


SampleStatus = Literal["pending", "processing", "completed", "failed"]


class Sample(Identified):
    """A sample with all its molecules."""

    model_id: str
    smiles: tuple[str, ...]
    """Unique canonical SMILES; none before it is completed."""
    created_at: datetime | None = None
    details: MoleculeDetails | None = None
    """There if `details` was asked for."""
    status: SampleStatus = "completed"
    """Anything else only for a chunk of a batch."""
    batch_id: str | None = None
    """The sample batch that it is a chunk of."""
    error: str | None = None
    """Reason of a failure."""


class SampleSummary(Identified):
    """A sample without its molecules, as lists have it."""

    model_id: str
    num_smiles: int
    created_at: datetime | None = None


class PropertyHistogram(Body):
    """Bars of one width, the first of which begins at `start`; what lies beyond either end counts in the bar there."""

    start: float
    width: float
    counts: tuple[int, ...]


class PropertyDistribution(Body):
    """Distribution of a property over a model's molecules."""

    mean: float
    standard_deviation: float
    p05: float
    p25: float
    p50: float
    p75: float
    p95: float
    likeness: float | None = None
    """Similarity of the distribution to that of known molecules, from 0 to 1."""
    histogram: PropertyHistogram | None = None


class ModelMetrics(Body):
    """Measured properties of a model's strings under some conditions; unknown ones are `None`."""

    n_strings: int | None = None
    n_molecules: int | None = None
    """Of a training set."""
    validity: float | None = None
    uniqueness: float | None = None
    novelty: float | None = None
    kl_score: float | None = None
    properties: Mapping[str, PropertyDistribution] = {}


class Model(Body):
    """A generative model that samples can be drawn from."""

    id: str
    molecules_ready: int
    """Molecules that can be handed out at once."""
    description: str = ""
    created: date | None = None
    architecture: str | None = None
    training_data: str | None = None
    licence: str | None = None
    """SPDX expression of the weights' licence."""
    metrics: Mapping[str, ModelMetrics] = {}
    """By the conditions that they were measured under."""


class ModelList(Body):
    """All models that live samplers have loaded."""

    data: tuple[Model, ...]


class OwnBlock(TypedDict):
    """A building block that the caller has."""

    smiles: str
    usd_per_gram: NotRequired[float | None]


class PlanSettings(TypedDict, total=False):
    """Settings of a tree search. The service has a default for each."""

    early_exit_first_solution: bool
    """Stop at the first validated route without doubt instead of using the whole time (true)."""
    max_seconds: float
    """Seconds to search at most (4)."""
    max_depth: int
    """Reaction steps of the longest branch at most, 1 to 50 (5)."""
    mask_trivial_solution: bool
    """Leave out the route without a step, where the target itself is sold (true)."""
    mask_bblocks_mw_gte: float | None
    """No building blocks of this molecular weight, in daltons, or more."""
    mask_usd_pricing_gte: float | None
    """No building blocks of this price, in USD per gram, or more (10,000)."""
    ships_to: Country | None
    """Country of offers and lead times (US)."""
    mask_lead_times_gte: float | None
    """No building blocks that take so many days, or more."""
    max_backbone_groups: int
    """Distinct backbones in the answer at most (5)."""
    max_backbone_group_size: int
    """Sets of building blocks for each backbone at most (10)."""
    limit_backbone_group_size_by_cost: bool
    """Keep the cheapest of them instead of the best (false)."""
    amount_mmol: float
    """Millimoles of the target that shopping lists are for (1)."""
    step_yield: float
    """The part of each step's product that is expected to be had (0.8)."""
    vendors_only: list[str] | None
    """The only vendors whose offers count, beside what every laboratory has."""
    vendors_never: list[str]
    """Vendors whose offers do not count."""
    vendors_first: list[str]
    """Vendors from whom shopping lists take what they have, whatever others ask for it."""
    bonds_to_break: list[tuple[int, int]] | None
    """Bonds of the target that every route breaks, each by the atom map numbers of its atoms in the target's SMILES."""
    bonds_to_keep: list[tuple[int, int]] | None
    """Bonds of the target that no step breaks."""
    fragments_to_keep: list[str] | None
    """SMARTS, or SMILES, of parts of the target that stay whole."""
    molecules_never: list[str] | None
    """SMILES of molecules that are in no route, in no tautomeric or charged form."""
    substructures_never: list[str] | None
    """SMARTS of what no molecule of a route has but the target."""
    building_blocks_required: list[str] | None
    """SMILES of building blocks that every route uses, each of them."""
    building_blocks_own: list[OwnBlock] | None
    """Building blocks that the caller has: in stock whatever the masks say, and not ordered."""
    reaction_classes_only: list[str] | None
    """The only classes of reaction that steps may have."""
    reaction_classes_never: list[str] | None
    """Classes of reaction that no step has."""
    reaction_classes_required: list[str] | None
    """Classes of reaction of each of which every route has a step."""
    templates_never: list[str] | None
    """Templates that no step rests on."""
    max_steps: int | None
    """Reaction steps of a whole route at most."""
    protecting_groups: Literal["allowed", "never"]
    """Use of protections and deprotections (allowed)."""


class PropertyRange(TypedDict, total=False):
    """The ends of a property's range, at least one of them. Both belong to it."""

    gte: float | None
    lte: float | None


class RouteLimits(TypedDict, total=False):
    """Limits on the route to each molecule of a sample. Each is optional."""

    max_steps: int | None
    """Reaction steps of the whole route at most."""
    max_usd_per_mol: float | None
    """USD of the building blocks for a mole at most."""
    ships_to: Country | None
    """Delivery region of the building blocks (US); `None`: anywhere."""
    max_lead_time_days: float | None
    """Days until a building block arrives at most."""
    max_seconds_each: float
    """Seconds of the search for each molecule's route (0.05)."""


class SampleConditions(TypedDict, total=False):
    """Conditions of a sample. Each holds for all of its molecules."""

    scaffold: str | None
    """SMILES with attachment points, `[*:1]`: every molecule contains it."""
    fragments: list[str] | None
    """SMILES with an attachment point each: every molecule contains and links them."""
    substructures_required: list[str] | None
    """SMARTS, all of which every molecule contains."""
    substructures_never: list[str] | None
    """SMARTS, none of which a molecule contains."""
    similar_to: list[str] | None
    """SMILES of the molecules to which the bounds of similarity apply."""
    similarity_gte: float | None
    """Lowest Tanimoto similarity to the nearest of them."""
    similarity_lt: float | None
    """Similarity that no molecule reaches."""
    properties: dict[str, PropertyRange] | None
    """Ranges of properties, as `{"mw": {"gte": 300, "lte": 450}}`."""
    alerts: list[str] | None
    """Sets of structural alerts, none of which a molecule has."""
    temperature: float | None
    """Temperature of drawing, 0.1 to 2."""
    top_p: float | None
    """Total probability of the tokens that are drawn from."""
    seed: int | None
    """The same request with the same seed gives the same molecules."""
    exclude: list[str] | None
    """Ids of samples and sample batches whose molecules are left out."""
    synthesizable: RouteLimits | None
    """Every molecule has a validated route within these limits."""
    details: bool
    """Add details of each molecule to the sample (false)."""


class RefusedSteps(Body):
    """Proposed steps that were refused, by reason."""

    unsound: int = 0
    product_not_regained: int = 0
    competing_site: int = 0


class ConstraintReport(Body):
    """Effect of one constraint of a request."""

    constraint: str
    """The setting."""
    index: int | None = None
    """The item's place in the setting's list; none where it counts as a whole."""
    refused: int
    """Proposed steps, and ways to put steps together, that it refused."""
    reason: str | None = None
    """Its part in the failure, if there is no route."""


class SearchReport(Body):
    """Work of a search, and its end."""

    expanded_molecules: int = 0
    exhausted: bool = False
    """True if nothing was left to try; otherwise the time was over."""
    refused_steps: RefusedSteps = RefusedSteps()
    stopped_by: tuple[str, ...] = ()
    """Missing building blocks of the best partial route, if there is no route."""
    constraints: tuple[ConstraintReport, ...] = ()


class Metadata(Body):
    """Seconds of each stage, and counts."""

    tree_search_elapsed: float
    routes_extracted_elapsed: float
    routes_validated_elapsed: float
    bblock_annotations_elapsed: float
    total_elapsed: float
    total_graph_nodes: int
    unvalidated_routes: int
    validated_routes: int
    total_bblocks: int
    search: SearchReport | None = None


class OrderedPack(Body):
    """Packs of one entry of a catalogue."""

    building_block_idx: int
    grams_needed: float
    cs_id: str
    pack: float | None = None
    uom: str | None = None
    count: int
    usd: float
    lead_time_days: float | None = None


class VendorOrder(Body):
    """Order from one vendor."""

    vendor_name: str
    total_usd: float
    lead_time_days: float | None = None
    items: tuple[OrderedPack, ...]


class Unpriced(Body):
    """A building block that is at hand, or whose price nobody knows."""

    building_block_idx: int
    grams_needed: float
    vendors: tuple[str, ...]


class StockTaken(Body):
    """Amount taken from the company's own stock."""

    building_block_idx: int
    grams: float
    vendor_name: str
    cs_id: str
    location: str | None = None


class ShoppingList(Body):
    """The cheapest packs that make the amount of target asked for."""

    amount_mmol: float
    step_yield: float
    total_usd: float | None = None
    """USD for all packs; none where a building block has none with a known price."""
    lead_time_days: float | None = None
    from_stock: tuple[StockTaken, ...] = ()
    """Amounts that the company has, which need not be ordered."""
    vendors: tuple[VendorOrder, ...]
    without_price: tuple[Unpriced, ...]


class RouteStanding(Body):
    """Rank of a route among those of its answer."""

    rank: int
    score: float
    cost_usd_per_mol: float | None = None
    lead_time_days: float | None = None
    convergence: float
    shopping_list: ShoppingList | None = None


class NodeData(Body):
    """Data of a molecule of a route."""

    smiles: str
    mw: float
    is_building_block: bool
    building_block_idx: int | None = None
    closest_building_block: float
    depth: int
    expanded: bool
    in_solution_path: bool


class Node(Body):
    """A molecule of a route graph."""

    id: str
    data: NodeData
    essential: bool | None = None
    only_for: str | None = None


class Conditions(Body):
    """Conditions of recorded reactions: agents by name, each with the number of reactions that used it."""

    reagents: Mapping[str, int] = {}
    catalysts: Mapping[str, int] = {}
    solvents: Mapping[str, int] = {}


class StepEvidence(Body):
    """Evidence of a step."""

    reaction_class: str | None = None
    reaction_category: str | None = None
    template: str | None = None
    probability: float | None = None
    precedents: int | None = None
    patents: tuple[str, ...] = ()
    conditions: Conditions = Conditions()
    precedent_similarity: float | None = None
    needs: str | None = None
    warnings: tuple[str, ...] = ()


class Edge(StepEvidence):
    """From a product to one of its precursors; what it says of the step is the same on all edges of a step."""

    source: str
    target: str
    plausibility: float | None = None


class RouteGraph(Body):
    """A route as NetworkX node-link data; edges run from product to precursor."""

    directed: bool
    multigraph: bool
    graph: RouteStanding | None = None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class ReagentResults(Body):
    """The distinct steps of all routes."""

    reaction_to_edges: Mapping[str, tuple[str, ...]]


class Offer(Body):
    """Offer of a building block by a vendor."""

    major_component_id: int
    full_canonical: str
    major_component: str
    minor_components: str
    mw: float
    vendor_name: str
    cs_id: str
    cs_prefix: str
    cs_url: str
    pack: float | None = None
    uom: str | None = None
    price_usd: float | None = None
    normalised_usd: float | None = None
    """USD per gram; none where it cannot be known."""
    api_timestamp: datetime
    """Time at which the offer was recorded."""
    lead_time_days_to_US: float | None = None  # noqa: N815 (the API's names)
    lead_time_days_to_CA: float | None = None  # noqa: N815
    lead_time_days_to_GB: float | None = None  # noqa: N815
    lead_time_days_to_FR: float | None = None  # noqa: N815
    lead_time_days_to_CH: float | None = None  # noqa: N815
    lead_time_days_to_DE: float | None = None  # noqa: N815
    lead_time_days_to_CN: float | None = None  # noqa: N815
    lead_time_days_to_AU: float | None = None  # noqa: N815

    def lead_time_days(self, country: Country | None) -> float | None:
        """Days until it is in `country`; none where nobody says, or no country is named."""
        if country is None:
            return None
        days: float | None = getattr(self, f"lead_time_days_to_{country}")
        return days


class ExportBody(RootModel[list[Any] | dict[str, Any]]):
    """Routes in the format of another program."""


class TreeSearchResult(Body):
    """Result of a tree search; `Plan` is made of it. Searches send it as a `CompactResult`, plans as it is."""

    search_smiles: str = ""
    metadata: Metadata
    route_hierarchy: Mapping[str, Mapping[str, tuple[tuple[RouteGraph, ...], ...]]]
    pricing_annotations: tuple[Offer, ...]
    reagent_results: ReagentResults
