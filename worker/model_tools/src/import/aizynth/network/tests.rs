use proptest::prelude::*;

use super::{
    super::graph::{Attribute, ValueInfo},
    *,
};

fn value(name: &str) -> ValueInfo {
    ValueInfo { name: name.to_owned() }
}

fn tensor(name: &str, dims: &[i64]) -> TensorProto {
    let count = dims.iter().product::<i64>();
    let raw_data = (0..count).flat_map(|n| (n as f32).to_le_bytes()).collect();
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: 1,
        raw_data,
        ..TensorProto::default()
    }
}

fn node(op_type: &str, inputs: &[&str], output: &str) -> OnnxNode {
    OnnxNode {
        op_type: op_type.to_owned(),
        name: format!("{op_type}_{output}"),
        inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
        outputs: vec![output.to_owned()],
        attributes: Vec::new(),
    }
}

fn with(mut node: OnnxNode, name: &str, f: f32, i: i64) -> OnnxNode {
    node.attributes.push(Attribute { name: name.to_owned(), f, i, t: None });
    node
}

/// Returns a graph as Keras exports it: 2048 -> 2 -> 3.
fn graph() -> OnnxGraph {
    OnnxGraph {
        nodes: vec![
            node("MatMul", &["x", "w1"], "a"),
            node("Add", &["a", "b1"], "b"),
            node("Elu", &["b"], "c"),
            node("MatMul", &["c", "w2"], "d"),
            node("Add", &["b2", "d"], "e"),
            node("Softmax", &["e"], "y"),
        ],
        initializers: vec![
            tensor("w1", &[2048, 2]),
            tensor("b1", &[2]),
            tensor("w2", &[2, 3]),
            tensor("b2", &[3]),
        ],
        inputs: vec![value("x")],
        outputs: vec![value("y")],
    }
}

fn read(graph: OnnxGraph) -> Result<DensePolicy, NetworkError> {
    DensePolicy::read(&OnnxModel { graph: Some(graph) }.encode_to_vec())
}

fn fault(change: impl FnOnce(&mut OnnxGraph)) -> String {
    let mut graph = graph();
    change(&mut graph);
    read(graph).unwrap_err().to_string()
}

#[test]
fn weights_come_out_one_row_an_output() {
    let policy = read(graph()).unwrap();

    assert_eq!((policy.hidden, policy.outputs, policy.activation), (2, 3, "elu"));
    // In the file, `w2` holds the numbers 0 to 5 in two rows of three.
    assert_eq!(policy.weight2, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(policy.weight1[..3], [0.0, 2.0, 4.0]);
    assert_eq!((policy.bias1, policy.bias2), (vec![0.0, 1.0], vec![0.0, 1.0, 2.0]));
}

#[test]
fn exporters_may_write_the_same_network_otherwise() {
    let mut pytorch = graph();
    pytorch.nodes = vec![
        with(node("Gemm", &["x", "w1", "b1"], "b"), "transB", 0.0, 1),
        node("Dropout", &["b"], "b'"),
        node("Relu", &["b'"], "c"),
        with(node("Gemm", &["c", "w2"], "y"), "transB", 0.0, 0),
    ];
    pytorch.initializers[0] = tensor("w1", &[2, 2048]);
    let policy = read(pytorch).unwrap();
    assert_eq!((policy.activation, &policy.weight1[..3]), ("relu", &[0.0, 1.0, 2.0][..]));
    assert_eq!(policy.bias2, [0.0; 3]);

    let mut old = graph();
    old.inputs.extend(["w1", "b1", "w2", "b2"].map(value));
    let bias = &mut old.initializers[3];
    (bias.float_data, bias.raw_data) = (vec![0.0, 1.0, 2.0], Vec::new());
    let weight = old.initializers.remove(2);
    let constant = Attribute { name: "value".to_owned(), t: Some(weight), ..Attribute::default() };
    old.nodes.push(OnnxNode { attributes: vec![constant], ..node("Constant", &[], "w2") });
    assert_eq!(read(old), read(graph()));
}

#[test]
fn what_the_engine_would_not_compute_is_refused_by_its_name() {
    for (found, words) in [
        (fault(|graph| graph.inputs.push(value("z"))), "2 inputs, wanted one"),
        (
            fault(|graph| graph.nodes[2].op_type = "Tanh".to_owned()),
            "node `Elu_c`: `Tanh` is not an operation of",
        ),
        (
            fault(|graph| graph.nodes[2] = with(graph.nodes[2].clone(), "alpha", 0.5, 0)),
            "`alpha` other than 1",
        ),
        (fault(|graph| drop(graph.nodes.remove(2))), "tensor `b`: the path ends here"),
        (fault(|graph| graph.nodes[3].inputs.reverse()), "`MatMul` multiplies from the wrong side"),
        (fault(|graph| graph.nodes.truncate(3)), "tensor `c`: the path ends here"),
        (
            fault(|graph| (graph.nodes.truncate(3), graph.outputs = vec![value("c")]).1),
            "the network is dense 2048 -> 2, ELU; wanted two dense layers",
        ),
        (
            fault(|graph| graph.nodes.push(node("Relu", &["y"], "z"))),
            "node `Relu_z`: `Relu` follows the softmax",
        ),
        (fault(|graph| graph.nodes.push(node("Relu", &["a"], "z"))), "is a second use"),
        (
            fault(|graph| graph.nodes[1].inputs = vec!["a".to_owned(), "a".to_owned()]),
            "adds a thing to itself",
        ),
        (fault(|graph| graph.nodes[0].inputs[1] = "w9".to_owned()), "uses `w9`, which is not a constant"),
        (fault(|graph| graph.initializers[0] = tensor("w1", &[1024, 2])), "1024 inputs, wanted 2048"),
        (
            fault(|graph| graph.initializers[2] = tensor("w2", &[4, 3])),
            "4 inputs of the second layer, wanted 2",
        ),
        (fault(|graph| graph.initializers[0] = tensor("w1", &[4096])), "tensor `w1`: is [4096], wanted two"),
        (fault(|graph| graph.initializers[0].dims = vec![2048, -2]), "tensor `w1`: is [2048, -2]"),
        (fault(|graph| graph.initializers[2].dims = vec![2, i64::MAX]), "outputs, wanted 1 to"),
        (fault(|graph| graph.initializers[3] = tensor("b2", &[4])), "tensor `b2`: holds 4 numbers, wanted 3"),
        (
            fault(|graph| graph.initializers[0].raw_data.truncate(4095 * 4)),
            "tensor `w1`: holds 4095 numbers, wanted 4096",
        ),
        (fault(|graph| graph.initializers[0].data_type = 7), "tensor `w1`: holds numbers of type 7"),
        (fault(|graph| graph.initializers[0].data_location = 1), "its numbers are in another file"),
        (fault(|graph| graph.nodes[0].outputs.clear()), "`MatMul` has no output"),
        (fault(|graph| graph.nodes[5].outputs[0] = "x".to_owned()), "tensor `x`: the path ends here"),
        (
            fault(|graph| graph.nodes = vec![node("Identity", &["x"], "x"); 1_001]),
            "1001 operations, wanted at most 1000",
        ),
        (DensePolicy::read(b"\x89HDF\r\n\x1a\n").unwrap_err().to_string(), "tf2onnx.convert --keras"),
        (DensePolicy::read(b"").unwrap_err().to_string(), "it has no graph"),
        (DensePolicy::read(&[0xFF; 40]).unwrap_err().to_string(), "not a readable ONNX file"),
    ] {
        assert!(found.contains(words), "`{words}` is not in `{found}`");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(DensePolicy::read(&bytes).is_err());
    }

    #[test]
    fn no_change_of_a_file_makes_the_reader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        tail in any::<bool>(),
    ) {
        let mut bytes = OnnxModel { graph: Some(graph()) }.encode_to_vec();
        // Most of the bytes are weights; changes around them test the reader better.
        let bounds = if tail { bytes.len() - 200..bytes.len() } else { 0..200 };
        for (at, byte) in changes {
            let at = bounds.start + at.index(bounds.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }

        let _ = DensePolicy::read(&bytes);
    }
}
