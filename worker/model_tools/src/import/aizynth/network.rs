//! Policy network in an ONNX file: fingerprint, dense layer, ELU or ReLU, dense layer, softmax.
//!
//! The graph is followed from its input, one operation after the other, for any exporter: Keras by tf2onnx (`MatMul`
//! and `Add`), PyTorch (`Gemm`). Operations that the search engine does not support are refused by name.

use std::collections::HashMap;

use half::{bf16, f16};
use prost::Message as _;

use super::graph::{OnnxGraph, OnnxModel, OnnxNode, TensorProto};

/// Number of fingerprint bits that the search engine computes.
pub const FINGERPRINT_BITS: usize = 2048;
/// Maximum number of hidden units that the search engine supports.
const MAX_HIDDEN: usize = 4096;
/// Maximum number of operations of a policy: a hundred times the usual number.
const MAX_NODES: usize = 1_000;
/// Maximum number of templates of a network: twenty times the usual number.
const MAX_OUTPUTS: usize = 1 << 20;

/// A policy network of two dense layers.
#[derive(Debug, PartialEq)]
pub struct DensePolicy {
    /// Number of hidden units.
    pub hidden: usize,
    /// Number of templates.
    pub outputs: usize,
    /// Weights of the first layer, `[hidden, 2048]`.
    pub weight1: Vec<f32>,
    /// Biases of the first layer, `[hidden]`.
    pub bias1: Vec<f32>,
    /// Weights of the second layer, `[outputs, hidden]`.
    pub weight2: Vec<f32>,
    /// Biases of the second layer, `[outputs]`.
    pub bias2: Vec<f32>,
    /// Activation: `elu` or `relu`.
    pub activation: &'static str,
}

/// Reason why a file is no policy.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// The file is truncated, or is not ONNX.
    #[error("not a readable ONNX file: {0}")]
    Onnx(String),
    /// The file is HDF5: Keras' own format, or the old one of PyTorch users.
    #[error(
        "an HDF5 file; convert it in Python with `python -m tf2onnx.convert --keras FILE --output policy.onnx`, or \
         take the .onnx that AiZynthFinder publishes beside it"
    )]
    Hdf5,
    /// The network does not have exactly one input.
    #[error("{0} inputs, wanted one, the fingerprint; a filter policy cannot be imported")]
    Inputs(usize),
    /// An operation does not belong in a policy.
    #[error("node `{node}`: `{operation}` {fault}")]
    Node {
        /// Name of the operation, or of its output.
        node: String,
        /// Type of the operation.
        operation: String,
        /// Reason for the refusal.
        fault: String,
    },
    /// A tensor cannot be used.
    #[error("tensor `{tensor}`: {fault}")]
    Tensor {
        /// Name of the tensor.
        tensor: String,
        /// Reason.
        fault: String,
    },
    /// The layers do not form a policy.
    #[error("the network is {0}; wanted two dense layers with ELU or ReLU between")]
    Layers(String),
    /// A size exceeds the limits of the search engine.
    #[error("{found} {what}, wanted {wanted}")]
    Size {
        /// Quantity that is too large.
        what: &'static str,
        /// Actual size.
        found: usize,
        /// Allowed size.
        wanted: String,
    },
}

/// Effect of an operation on the data that passes through it.
#[derive(Debug)]
enum Layer<'a> {
    Dense(Dense<'a>),
    Activation(&'static str),
    Softmax,
}

/// Weights and bias as stored in the file.
#[derive(Debug)]
struct Dense<'a> {
    weight: &'a TensorProto,
    order: WeightLayout,
    bias: Option<&'a TensorProto>,
    inputs: usize,
    outputs: usize,
}

/// Layout of a weight matrix: which dimension is the layer's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeightLayout {
    First,
    Last,
}

impl DensePolicy {
    /// Reads an ONNX file.
    pub fn read(bytes: &[u8]) -> Result<Self, NetworkError> {
        if bytes.starts_with(b"\x89HDF") {
            return Err(NetworkError::Hdf5);
        }
        let model = OnnxModel::decode(bytes).map_err(|fault| NetworkError::Onnx(fault.to_string()))?;
        let graph = model.graph.ok_or_else(|| NetworkError::Onnx("it has no graph".to_owned()))?;
        let nodes = graph.nodes.len();
        if nodes > MAX_NODES {
            return Err(NetworkError::Size {
                what: "operations",
                found: nodes,
                wanted: format!("at most {MAX_NODES}"),
            });
        }
        let layers = GraphTraversal::new(&graph).layers()?;
        let said = || NetworkError::Layers(describe(&layers));
        let (first, activation, second) = match &layers[..] {
            [Layer::Dense(first), Layer::Activation(activation), Layer::Dense(second)]
            | [Layer::Dense(first), Layer::Activation(activation), Layer::Dense(second), Layer::Softmax] => {
                (first, activation, second)
            }
            _ => return Err(said()),
        };
        let size = |what, found: usize, holds: bool, wanted: String| {
            if holds { Ok(()) } else { Err(NetworkError::Size { what, found, wanted }) }
        };
        let bits = format!("{FINGERPRINT_BITS}, the fingerprint that the search engine makes");
        size("inputs", first.inputs, first.inputs == FINGERPRINT_BITS, bits)?;
        let hidden = first.outputs;
        size("hidden units", hidden, (1..=MAX_HIDDEN).contains(&hidden), format!("1 to {MAX_HIDDEN}"))?;
        let outputs = second.outputs;
        size("outputs", outputs, (1..=MAX_OUTPUTS).contains(&outputs), format!("1 to {MAX_OUTPUTS}"))?;
        size("inputs of the second layer", second.inputs, second.inputs == hidden, hidden.to_string())?;
        Ok(Self {
            hidden,
            outputs,
            weight1: first.weights()?,
            bias1: first.biases()?,
            weight2: second.weights()?,
            bias2: second.biases()?,
            activation,
        })
    }
}

/// Traversal of a graph from its input to its end.
struct GraphTraversal<'a> {
    graph: &'a OnnxGraph,
    constants: HashMap<&'a str, &'a TensorProto>,
}

impl<'a> GraphTraversal<'a> {
    fn new(graph: &'a OnnxGraph) -> Self {
        let initializers = graph.initializers.iter().map(|tensor| (tensor.name.as_str(), tensor));
        let nodes = graph.nodes.iter().filter(|node| node.op_type == "Constant").filter_map(|node| {
            let value = node.attributes.iter().find(|attribute| attribute.name == "value")?;
            Some((node.outputs.first()?.as_str(), value.t.as_ref()?))
        });
        Self { graph, constants: initializers.chain(nodes).collect() }
    }

    fn layers(&self) -> Result<Vec<Layer<'a>>, NetworkError> {
        let inputs: Vec<&str> = self.graph.inputs.iter().map(|input| input.name.as_str()).collect();
        // Old files list their weights among the inputs.
        let data: Vec<&str> = inputs.into_iter().filter(|name| !self.constants.contains_key(name)).collect();
        let [mut at] = data[..] else { return Err(NetworkError::Inputs(data.len())) };
        let mut layers = Vec::new();
        // A chain has at most as many links as the graph has nodes; a cycle would never end.
        for _ in 0..self.graph.nodes.len() {
            let users: Vec<&OnnxNode> =
                self.graph.nodes.iter().filter(|node| node.inputs.iter().any(|input| input == at)).collect();
            let node = match users[..] {
                [] => break,
                [node] => node,
                [_, second, ..] => return Err(fault(second, "is a second use of what came before it")),
            };
            self.add_layer(node, at, &mut layers)?;
            at = node.outputs.first().ok_or_else(|| fault(node, "has no output"))?;
        }
        if self.graph.outputs.iter().all(|output| output.name != at) {
            let tensor = at.to_owned();
            return Err(NetworkError::Tensor {
                tensor,
                fault: "the path ends here, and it is not an output".to_owned(),
            });
        }
        Ok(layers)
    }

    /// Adds the layer of `node`, whose input data is the tensor `data`.
    fn add_layer(
        &self,
        node: &'a OnnxNode,
        data: &str,
        layers: &mut Vec<Layer<'a>>,
    ) -> Result<(), NetworkError> {
        let number = |name: &str, default: f32| {
            node.attributes.iter().find(|attribute| attribute.name == name).map_or(default, |found| found.f)
        };
        let whole = |name: &str| {
            node.attributes.iter().find(|attribute| attribute.name == name).map_or(0, |found| found.i)
        };
        if matches!(layers.last(), Some(Layer::Softmax)) {
            return Err(fault(node, "follows the softmax"));
        }
        match node.op_type.as_str() {
            "Identity" | "Dropout" | "Flatten" | "Cast" => {}
            "MatMul" => layers.push(Layer::Dense(self.dense(node, data, WeightLayout::Last)?)),
            "Gemm" => {
                if number("alpha", 1.0) != 1.0 || number("beta", 1.0) != 1.0 || whole("transA") != 0 {
                    return Err(fault(node, "has an `alpha`, `beta` or `transA` of its own"));
                }
                let order = if whole("transB") == 0 { WeightLayout::Last } else { WeightLayout::First };
                let mut dense = self.dense(node, data, order)?;
                if let Some(bias) = node.inputs.get(2).filter(|name| !name.is_empty()) {
                    dense.bias = Some(self.constant(node, bias)?);
                }
                layers.push(Layer::Dense(dense));
            }
            "Add" => {
                let other = node.inputs.iter().find(|input| *input != data);
                let bias =
                    self.constant(node, other.ok_or_else(|| fault(node, "adds a thing to itself"))?)?;
                match layers.last_mut() {
                    Some(Layer::Dense(dense)) if dense.bias.is_none() => dense.bias = Some(bias),
                    _ => return Err(fault(node, "adds to a value that is not a dense layer")),
                }
            }
            "Elu" if number("alpha", 1.0) != 1.0 => return Err(fault(node, "has an `alpha` other than 1")),
            "Elu" => layers.push(Layer::Activation("elu")),
            "Relu" => layers.push(Layer::Activation("relu")),
            "Softmax" | "LogSoftmax" => layers.push(Layer::Softmax),
            _ => return Err(fault(node, "is not an operation of a policy of two dense layers")),
        }
        Ok(())
    }

    fn dense(&self, node: &'a OnnxNode, data: &str, order: WeightLayout) -> Result<Dense<'a>, NetworkError> {
        let [first, name, ..] = &node.inputs[..] else { return Err(fault(node, "has no weights")) };
        if first != data {
            return Err(fault(node, "multiplies from the wrong side"));
        }
        let weight = self.constant(node, name)?;
        let sizes: Option<Vec<usize>> = weight.dims.iter().map(|size| usize::try_from(*size).ok()).collect();
        match (sizes.as_deref(), order) {
            (Some(&[inputs, outputs]), WeightLayout::Last)
            | (Some(&[outputs, inputs]), WeightLayout::First) => {
                Ok(Dense { weight, order, bias: None, inputs, outputs })
            }
            _ => Err(unusable(weight, format!("is {:?}, wanted two dimensions", weight.dims))),
        }
    }

    fn constant(&self, node: &OnnxNode, name: &str) -> Result<&'a TensorProto, NetworkError> {
        let constant = self.constants.get(name).copied();
        constant.ok_or_else(|| fault(node, &format!("uses `{name}`, which is not a constant of the file")))
    }
}

impl Dense<'_> {
    /// Returns the weights, `[outputs, inputs]`.
    fn weights(&self) -> Result<Vec<f32>, NetworkError> {
        let numbers = numbers(self.weight, self.inputs.checked_mul(self.outputs))?;
        if self.order == WeightLayout::First {
            return Ok(numbers);
        }
        let mut turned = vec![0.0; numbers.len()];
        for (input, row) in numbers.chunks_exact(self.outputs).enumerate() {
            for (output, weight) in row.iter().enumerate() {
                turned[output * self.inputs + input] = *weight;
            }
        }
        Ok(turned)
    }

    /// Returns the biases, `[outputs]`; zeros if the file has none.
    fn biases(&self) -> Result<Vec<f32>, NetworkError> {
        self.bias.map_or_else(|| Ok(vec![0.0; self.outputs]), |bias| numbers(bias, Some(self.outputs)))
    }
}

/// Returns the numbers of a tensor, which must have `wanted` of them.
fn numbers(tensor: &TensorProto, wanted: Option<usize>) -> Result<Vec<f32>, NetworkError> {
    if tensor.data_location == 1 {
        return Err(unusable(
            tensor,
            "its numbers are in another file; save the model in one file".to_owned(),
        ));
    }
    let raw = &tensor.raw_data[..];
    let (numbers, size): (Vec<f32>, usize) = match tensor.data_type {
        1 if raw.is_empty() => (tensor.float_data.clone(), 0),
        1 => (each(raw, f32::from_le_bytes), 4),
        10 => (each(raw, |word| f16::from_le_bytes(word).to_f32()), 2),
        11 => (each(raw, |word| f64::from_le_bytes(word) as f32), 8),
        16 => (each(raw, |word| bf16::from_le_bytes(word).to_f32()), 2),
        other => {
            return Err(unusable(tensor, format!("holds numbers of type {other}, wanted floating point")));
        }
    };
    let whole = size == 0 || raw.len().is_multiple_of(size);
    if !whole || Some(numbers.len()) != wanted {
        return Err(unusable(
            tensor,
            format!("holds {} numbers, wanted {}", numbers.len(), wanted.unwrap_or(usize::MAX)),
        ));
    }
    Ok(numbers)
}

/// Converts every `N` bytes to a number.
fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|chunk| number(*chunk)).collect()
}

/// Describes the layers in words.
fn describe(layers: &[Layer<'_>]) -> String {
    let words = layers.iter().map(|layer| match layer {
        Layer::Dense(dense) => format!("dense {} -> {}", dense.inputs, dense.outputs),
        Layer::Activation(name) => name.to_uppercase(),
        Layer::Softmax => "softmax".to_owned(),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if words.is_empty() { "empty".to_owned() } else { words }
}

fn fault(node: &OnnxNode, fault: &str) -> NetworkError {
    let output = || node.outputs.first().cloned().unwrap_or_default();
    NetworkError::Node {
        node: if node.name.is_empty() { output() } else { node.name.clone() },
        operation: node.op_type.clone(),
        fault: fault.to_owned(),
    }
}

fn unusable(tensor: &TensorProto, fault: String) -> NetworkError {
    NetworkError::Tensor { tensor: tensor.name.clone(), fault }
}

#[cfg(test)]
mod tests;
