"""Makes `policy/`: a policy as AiZynthFinder has it, exported as Keras' and as PyTorch's are, and what it computes.

Run it in this folder; SOURCES.md says with which versions it was run.
"""

import gzip
import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save
from onnx.reference import ReferenceEvaluator
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

OUT = Path("policy")
TARGET = "CC(=O)NCC"
AMIDE = ("([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[NH;D2;+0:4]-[C:5])"
         ">>(O-[C;H0;D3;+0:2](-[C:1])=[O;D1;H0:3]).([C:5]-[NH2;D1;+0:4])")
CHLORIDE = AMIDE.replace("(O-[C;H0;D3", "(Cl-[C;H0;D3")
ESTER = AMIDE.replace("[NH;D2;+0:4]", "[O;H0;D2;+0:4]").replace("[NH2;D1;+0:4]", "[OH;D1;+0:4]")
# The third is none, so its row must stay empty and the rows after it must stay theirs.
TEMPLATES = [ESTER, CHLORIDE, "[C:1]>>not a template", AMIDE]


def fingerprint():
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048, includeChirality=False)
    row = np.zeros(2048, dtype=np.float32)
    DataStructs.ConvertToNumpyArray(generator.GetFingerprint(Chem.MolFromSmiles(TARGET)), row)
    return row.astype(np.float32)[None]


def model(nodes, tensors, outputs):
    inputs = [helper.make_tensor_value_info("dense_input", TensorProto.FLOAT, [None, 2048])]
    outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, outputs])]
    initializers = [numpy_helper.from_array(numbers, name) for name, numbers in tensors.items()]
    made = helper.make_model(helper.make_graph(nodes, "policy", inputs, outputs, initializers),
                             opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 8
    checker.check_model(made)
    return made


def main():
    OUT.mkdir(exist_ok=True)
    rng = np.random.default_rng(5)
    w1 = rng.normal(0, 0.5, (2048, 3)).astype(np.float32)
    b1 = rng.normal(0, 0.5, 3).astype(np.float32)
    w2 = rng.normal(0, 0.7, (3, len(TEMPLATES))).astype(np.float32)
    b2 = rng.normal(0, 0.3, len(TEMPLATES)).astype(np.float32)
    node = helper.make_node
    keras = model([
        node("MatMul", ["dense_input", "sequential/dense/MatMul/ReadVariableOp:0"], ["sequential/dense/MatMul:0"]),
        node("Add", ["sequential/dense/MatMul:0", "sequential/dense/BiasAdd/ReadVariableOp:0"], ["add"]),
        node("Elu", ["add"], ["elu"], alpha=1.0),
        node("MatMul", ["elu", "sequential/dense_1/MatMul/ReadVariableOp:0"], ["sequential/dense_1/MatMul:0"]),
        node("Add", ["sequential/dense_1/MatMul:0", "sequential/dense_1/BiasAdd/ReadVariableOp:0"], ["add_1"]),
        node("Softmax", ["add_1"], ["probabilities"], axis=1),
    ], {
        "sequential/dense/MatMul/ReadVariableOp:0": w1, "sequential/dense/BiasAdd/ReadVariableOp:0": b1,
        "sequential/dense_1/MatMul/ReadVariableOp:0": w2, "sequential/dense_1/BiasAdd/ReadVariableOp:0": b2,
    }, len(TEMPLATES))
    pytorch = model([
        node("Gemm", ["dense_input", "0.weight", "0.bias"], ["a"], transB=1),
        node("Elu", ["a"], ["b"]),
        node("Gemm", ["b", "2.weight", "2.bias"], ["c"], transB=1),
        node("Softmax", ["c"], ["probabilities"], axis=1),
    ], {"0.weight": w1.T.copy(), "0.bias": b1, "2.weight": w2.T.copy(), "2.bias": b2}, len(TEMPLATES))
    (expected,), = ReferenceEvaluator(keras).run(None, {"dense_input": fingerprint()})
    (same,), = ReferenceEvaluator(pytorch).run(None, {"dense_input": fingerprint()})
    assert np.allclose(expected, same, atol=1e-6)

    save(keras, OUT / "keras.onnx")
    save(pytorch, OUT / "pytorch.onnx")
    header = "\tindex\tretro_template\ttemplate_hash\tlibrary_occurence\tclassification\n"
    rows = [f"{n}\t{n + 70}\t{text}\thash{n}\t{9 - n}\t0.0 Unrecognized\n" for n, text in enumerate(TEMPLATES)]
    with gzip.GzipFile(OUT / "templates.csv.gz", "wb", mtime=0) as file:
        file.write((header + "".join(rows)).encode())
    probabilities = {"target": TARGET, "probabilities": [round(float(p), 6) for p in expected]}
    (OUT / "expected.json").write_text(json.dumps(probabilities) + "\n", encoding="utf-8")
    print(probabilities)


if __name__ == "__main__":
    main()
