//! Parts of an ONNX file that a policy needs (`onnx.proto`), decoded by prost; the field numbers define the format.

use prost::Message;

/// An ONNX file.
#[derive(Clone, PartialEq, Message)]
pub struct OnnxModel {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<OnnxGraph>,
}

/// A network.
#[derive(Clone, PartialEq, Message)]
pub struct OnnxGraph {
    #[prost(message, repeated, tag = "1")]
    pub nodes: Vec<OnnxNode>,
    #[prost(message, repeated, tag = "5")]
    pub initializers: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub outputs: Vec<ValueInfo>,
}

/// An operation.
#[derive(Clone, PartialEq, Message)]
pub struct OnnxNode {
    #[prost(string, repeated, tag = "1")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attributes: Vec<Attribute>,
}

/// An attribute of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub f: f32,
    #[prost(int64, tag = "3")]
    pub i: i64,
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
}

/// A tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    /// 1 if the numbers are in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// An input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
}
