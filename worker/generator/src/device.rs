//! Selection of the device for networks: the only place that decides between CPU and GPU.
//!
//! GPUs use candle's CUDA backend, which exists only in builds with the feature `cuda`. Other builds refuse GPUs at
//! run time, not at compile time, so no other code in this crate depends on the feature. It has not run on a GPU yet:
//! it was compiled, and its computations were tested on a CPU (`tests/it/reference.rs`).

use std::{fmt, str::FromStr};

use candle_core::{Device, Tensor, cuda::set_gemm_reduced_precision_f32};

/// Device setting of the operator: `auto`, `cpu` or `cuda:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The first GPU if one can be used, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU with this number, as `nvidia-smi` numbers them.
    Cuda(usize),
}

/// Reason why a device is not available.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum DeviceError {
    /// `found` does not name a device.
    #[error(
        "`{found}` is not a device: wanted `auto`, `cpu` or `cuda:N`, where N is the number of a GPU, from 0"
    )]
    Unknown { found: String },
    /// The program was built without the feature `cuda`.
    #[error(
        "this program was built without GPUs: choose the device `cpu` or `auto`, or build it with `--features cuda`"
    )]
    NotBuilt,
    /// The GPU `number` cannot be used.
    #[error(
        "the GPU {number} cannot be used: {source}; `nvidia-smi` lists what is there, and the device `cpu` needs none"
    )]
    Unusable { number: usize, source: candle_core::Error },
}

impl DeviceChoice {
    /// Opens the device.
    ///
    /// # Errors
    /// Fails if a named GPU cannot be used.
    pub fn open(self) -> Result<Device, DeviceError> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Auto => Ok(Self::Cuda(0).open().unwrap_or(Device::Cpu)),
            Self::Cuda(_) if !candle_core::utils::cuda_is_available() => Err(DeviceError::NotBuilt),
            Self::Cuda(number) => gpu(number).map_err(|source| DeviceError::Unusable { number, source }),
        }
    }

    /// Returns the choice that names an opened device.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        match device.location() {
            candle_core::DeviceLocation::Cuda { gpu_id } => Self::Cuda(gpu_id),
            _ => Self::Cpu,
        }
    }
}

/// Opens a GPU and checks that it can compute.
///
/// Uses one stream. candle's other constructor gives every thread its own stream without ordering between them, but
/// samplers load a model on one thread and step it on others.
fn gpu(number: usize) -> candle_core::Result<Device> {
    let device = Device::new_cuda_with_stream(number)?;
    // Products of numbers with eleven significant bits, summed in single precision. This is several times as fast as
    // single precision throughout, and much more precise than the bytes that suffice on a CPU.
    set_gemm_reduced_precision_f32(true);
    // Kernels built for newer GPUs or newer drivers fail only when they are loaded, so one is tried here.
    let ones = Tensor::ones((2, 2), candle_core::DType::F32, &device)?;
    ones.matmul(&ones)?.tanh()?.to_vec2::<f32>()?;
    Ok(device)
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let number =
            |number: &str| number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok());
        match text.strip_prefix("cuda:").and_then(number).flatten() {
            Some(number) => Ok(Self::Cuda(number)),
            None if text == "auto" => Ok(Self::Auto),
            None if text == "cpu" => Ok(Self::Cpu),
            None => Err(DeviceError::Unknown { found: text.to_owned() }),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceChoice, DeviceError};

    #[test]
    fn devices_are_named_as_they_are_written() {
        for (text, choice) in
            [("auto", DeviceChoice::Auto), ("cpu", DeviceChoice::Cpu), ("cuda:10", DeviceChoice::Cuda(10))]
        {
            assert_eq!(text.parse::<DeviceChoice>().unwrap(), choice);
            assert_eq!(choice.to_string(), text);
        }
    }

    #[test]
    fn what_names_no_device_is_refused_with_the_names_that_do() {
        for text in
            ["", "gpu", "CPU", "cuda", "cuda:", "cuda:+1", "cuda:x", "cuda:99999999999999999999", "cpu:0"]
        {
            let error = text.parse::<DeviceChoice>().unwrap_err();

            assert!(matches!(error, DeviceError::Unknown { .. }));
            assert!(
                error.to_string().contains(&format!("`{text}` is not a device: wanted `auto`")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_that_says_what_to_do_and_auto_does_without() {
        // No machine has this many GPUs.
        let error = DeviceChoice::Cuda(1_000).open().unwrap_err();
        assert!(error.to_string().contains("`cpu`"), "{error}");

        assert!(DeviceChoice::Auto.open().is_ok());
        assert!(DeviceChoice::Cpu.open().unwrap().is_cpu());
    }
}
