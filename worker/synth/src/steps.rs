//! Single steps: their assessment, their validation, and the model's proposals for making a molecule. Routes and
//! searches depend on this module; it depends on neither.

pub mod assess;
pub mod confidence;
pub mod explain;
pub mod forward;
pub mod one_step;
pub mod order;
pub mod proposals;
pub mod temporary;
pub mod validate;
