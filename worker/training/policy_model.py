"""The policy network: how probable each template is at each of its sites, given the product.

The decision that matters: a template is scored where it applies. Beside what the whole molecule says (Morgan fingerprint ->
hidden layer -> templates, Segler and Waller, Chem. Eur. J. 2017) there is a vector for every site, the set of atoms that the
template's product side lies on: the sum of vectors of its atoms, which start as sums of embeddings of their hashed Morgan
environments of radius 0 to 3 and hear from their neighbours twice. Only templates that match take part, so the softmax is over
pairs of a template and a site, some 600 a molecule (LocalRetro, Chen and Jung, JACS Au 2021, scores templates at atoms and bonds).
"""

import functools
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.utils import cpp_extension

FINGERPRINT_BITS = 2048
BOND_KINDS = 4
RADII = 4


class Sizes(NamedTuple):
    """The sizes of a network."""

    templates: int
    environments: int = 32768
    molecule: int = 512
    atom: int = 128
    site: int = 256
    rounds: int = 2


class Batch(NamedTuple):
    """Some products and what matches them; every list is flat, numbers count within the batch.

    `bits`, `bit_starts`: on bits of product after product. `environments`: `[atoms, 4]`. `bonds`: `[bonds, 2]` from and to,
    each bond both ways, `bond_kinds` beside it. `site_atoms`, `atom_sites`: pairs of an atom and a site that has it;
    `site_sizes`: how many atoms each site has; `site_products`: whose it is. `match_templates`, `match_products`. A pair is a match at a site: `pair_matches`, `pair_sites`.
    """

    bits: torch.Tensor
    bit_starts: torch.Tensor
    environments: torch.Tensor
    bonds: torch.Tensor
    bond_kinds: torch.Tensor
    site_atoms: torch.Tensor
    atom_sites: torch.Tensor
    site_sizes: torch.Tensor
    site_products: torch.Tensor
    match_templates: torch.Tensor
    match_products: torch.Tensor
    pair_matches: torch.Tensor
    pair_sites: torch.Tensor


@functools.cache
def sparse_ops() -> object:
    """Builds `sparse_ops.cpp`, once a machine."""
    source = str(Path(__file__).with_name("sparse_ops.cpp"))
    return cpp_extension.load("sparse_ops", [source], extra_cflags=["-O3", "-march=native", "-ffast-math"])


class PairScores(torch.autograd.Function):
    """`score[i] = left[a[i]] . right[b[i]]`."""

    @staticmethod
    def forward(ctx: object, left: torch.Tensor, right: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Gives the scalar products."""
        ctx.save_for_backward(left, right, a, b)
        return sparse_ops().scores(left, right, a, b)

    @staticmethod
    def backward(ctx: object, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gives the gradients of both matrices."""
        left, right, a, b = ctx.saved_tensors
        return *sparse_ops().scores_gradients(grad.contiguous(), left, right, a, b), None, None


class RowSums(torch.autograd.Function):
    """`sum[b[i]] += rows[a[i]]`, `count` sums in all."""

    @staticmethod
    def forward(ctx: object, rows: torch.Tensor, a: torch.Tensor, b: torch.Tensor, count: int) -> torch.Tensor:
        """Gives the sums."""
        ctx.save_for_backward(a, b)
        ctx.rows = len(rows)
        return sparse_ops().sums(rows.contiguous(), a, b, count)

    @staticmethod
    def backward(ctx: object, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gives the gradient of the rows."""
        a, b = ctx.saved_tensors
        return sparse_ops().sums(grad.contiguous(), b, a, ctx.rows), None, None, None


class Policy(nn.Module):
    """Scores every pair of a template and a site."""

    def __init__(self, sizes: Sizes, dropout: float = 0.0) -> None:
        super().__init__()
        self.sizes = sizes
        self.layer1 = nn.EmbeddingBag(FINGERPRINT_BITS, sizes.molecule, mode="sum")
        self.layer1_bias = nn.Parameter(torch.zeros(sizes.molecule))
        self.layer2 = nn.Embedding(sizes.templates, sizes.molecule)
        self.layer2_bias = nn.Parameter(torch.zeros(sizes.templates))
        self.environment = nn.Embedding(sizes.environments, sizes.atom)
        self.bond = nn.Embedding(BOND_KINDS, sizes.atom)
        self.own = nn.ModuleList(nn.Linear(sizes.atom, sizes.atom) for _ in range(sizes.rounds))
        self.heard = nn.ModuleList(nn.Linear(sizes.atom, sizes.atom, bias=False) for _ in range(sizes.rounds))
        self.atom = nn.Linear(sizes.atom, sizes.site, bias=False)
        self.molecule = nn.Linear(sizes.molecule, sizes.site)
        self.template = nn.Embedding(sizes.templates, sizes.site)
        self.dropout = nn.Dropout(dropout)
        for table, spread in ((self.layer1, 0.09), (self.layer2, 0.02), (self.environment, 0.3), (self.bond, 0.3), (self.template, 0.03)):
            nn.init.normal_(table.weight, std=spread)

    def atoms(self, batch: Batch) -> torch.Tensor:
        """Gives `[atoms, atom]` vectors."""
        rows = (batch.environments % self.sizes.environments).reshape(-1)
        atoms = torch.arange(len(batch.environments)).repeat_interleave(RADII)
        state = functional.relu(RowSums.apply(self.environment.weight, rows, atoms, len(batch.environments)))
        source, target = batch.bonds[:, 0], batch.bonds[:, 1]
        kinds = self.bond(batch.bond_kinds)
        for own, heard in zip(self.own, self.heard, strict=True):
            said = torch.zeros_like(state).index_add(0, target, functional.relu(state[source] + kinds))
            state = state + functional.relu(own(state) + heard(said))
        return state

    def vectors(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Gives the vectors of the molecules, `[products, molecule]`, and of the sites, `[sites, site]`, that the rows of templates meet."""
        molecule = self.dropout(functional.elu(self.layer1(batch.bits, batch.bit_starts) + self.layer1_bias))
        atoms = self.atom(self.dropout(self.atoms(batch)))
        sites = RowSums.apply(atoms, batch.site_atoms, batch.atom_sites, len(batch.site_sizes))
        sites = sites / batch.site_sizes.clamp(min=1).sqrt()[:, None] + self.molecule(molecule)[batch.site_products]
        return molecule, functional.relu(sites)

    def scores(self, batch: Batch, molecule: torch.Tensor, sites: torch.Tensor) -> torch.Tensor:
        """Gives one logit for every pair from the vectors of molecules and sites."""
        general = PairScores.apply(self.layer2.weight, molecule, batch.match_templates, batch.match_products)
        general = general + self.layer2_bias[batch.match_templates]
        special = PairScores.apply(self.template.weight, sites, batch.match_templates[batch.pair_matches], batch.pair_sites)
        return general[batch.pair_matches] + special

    def forward(self, batch: Batch) -> torch.Tensor:
        """Maps a batch to one logit for every pair."""
        return self.scores(batch, *self.vectors(batch))
