//! Layouts that the baseline of Pangu Ultra MoE may have had.
//!
//! The paper gives the baseline's MFU on 4K NPUs and not its layout. These are the layouts that a
//! team would have tried: one chunk a stage, whole layers recomputed, nothing overlapped.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::START;
use crate::design::{Design, KnobId};
use crate::ground::knob::{KnobError, Value};

/// Tensor-parallel sizes: a node and half of one.
const TENSOR: [u64; 2] = [4, 8];
/// Pipeline-parallel sizes, each of which divides the 64 slots of layers.
const PIPELINE: [u64; 3] = [8, 16, 32];
/// Expert-parallel sizes: from 16 experts on a device to one.
const EXPERT: [u64; 5] = [16, 32, 64, 128, 256];
/// Sequences of a micro-batch.
const MICRO_BATCH: [u64; 2] = [1, 2];

/// Every combination on the baseline's 4,096 NPUs, legal or not, whether it fits or not.
///
/// # Errors
/// A value that no knob takes: a fault of the lists, which a test rules out.
///
/// # Source
/// Our choice: the sizes around those of the published final run.
pub fn layouts() -> Result<Vec<Design>, KnobError> {
    let mut design = Design::from_preset(START)?;
    // The baseline's preset has these already; they are what makes a layout a baseline's.
    for (knob, value) in [
        (KnobId::virtual_pipeline_model_parallel_size, Value::Integer(1)),
        (KnobId::recompute_granularity, Value::Text("full".to_string())),
    ] {
        design.set(knob, &value)?;
    }
    let mut list = Vec::new();
    for tensor in TENSOR {
        for pipeline in PIPELINE {
            for expert in EXPERT {
                for micro_batch in MICRO_BATCH {
                    let mut layout = design.clone();
                    for (knob, size) in [
                        (KnobId::tensor_model_parallel_size, tensor),
                        (KnobId::pipeline_model_parallel_size, pipeline),
                        (KnobId::expert_model_parallel_size, expert),
                        (KnobId::micro_batch_size, micro_batch),
                    ] {
                        layout.set(knob, &Value::Integer(size))?;
                    }
                    list.push(layout);
                }
            }
        }
    }
    Ok(list)
}
