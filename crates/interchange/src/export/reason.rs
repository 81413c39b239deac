//! Why a framework has no word for a knob.

use model::design::KnobId;
use model::ground::knob::{Kind, Section};

use super::Target;

const MACHINE: &str = "The machine is the scheduler's matter, and no configuration names it";
const MEASURED: &str = "Loads are measured, not configured";
const SOFTWARE: &str = "How fast the software itself is follows from its release";
const COUNTED: &str = "How a figure is counted or simulated, not how the run is started";
const ELSEWHERE: &str = "Read by serving and by budgets alone";
const ARGUMENT: &str = "No argument says this, or not beside the others";
const KEY: &str = "No key says this, or not beside the others";
const SHAPE: &str = "The shape of the model stands in its own config.json";
const FLAVOR: &str = "The shape of the model is chosen by name and flavor, and else is code";
const CODE: &str = "The training script decides this in its code";
const SPELLED: &str = "Spelled above in another way that means the same";
const WHOLE: &str = "FSDP cuts parameters, gradients and states alike";
const KERNEL: &str = "The training script chooses its kernels and what they overlap";

const CARRIED: &str = "Arguments without a knob, as they were imported";

const FLAG: &str = "No flag of this engine says this, or not beside the others";
const WEIGHTS: &str = "The weights say the shape of the model by themselves";
const REQUESTS: &str = "What is asked of the engine, not how it is started";
const TRAINING: &str = "Read by training and by budgets alone";

const ORDER: [&str; 18] = [
    FLAG, WEIGHTS, REQUESTS, TRAINING, SPELLED, ARGUMENT, KEY, SHAPE, FLAVOR, WHOLE, CODE, KERNEL,
    CARRIED, MACHINE, SOFTWARE, MEASURED, COUNTED, ELSEWHERE,
];

/// Where a reason stands among the others.
pub(super) fn rank(reason: &str) -> usize {
    ORDER.iter().position(|own| *own == reason).unwrap_or(ORDER.len())
}

/// The reason for a knob.
pub(super) fn reason(target: Target, knob: KnobId) -> &'static str {
    let by_code = matches!(target, Target::Deepspeed | Target::Accelerate | Target::Torchtitan);
    let general = match knob.knob().section {
        _ if knob == KnobId::extra_arguments => Some(CARRIED),
        Section::Cluster => Some(MACHINE),
        Section::Routing if knob != KnobId::aux_loss => Some(MEASURED),
        Section::Serving | Section::Run => Some(ELSEWHERE),
        Section::Training if is_counted(knob) => Some(COUNTED),
        Section::Training if is_of_data(knob) => Some(MEASURED),
        Section::Memory if knob == KnobId::reserved_gib => Some(SOFTWARE),
        Section::Schedule if knob == KnobId::timing => Some(COUNTED),
        Section::Kernel if is_software(knob) => Some(SOFTWARE),
        Section::Transformer if target == Target::Torchtitan => Some(FLAVOR),
        Section::Transformer if by_code => Some(SHAPE),
        Section::Kernel | Section::Schedule | Section::Routing if by_code => Some(KERNEL),
        Section::Parallel if knob == KnobId::data_parallel_sharding_strategy => {
            (target == Target::Torchtitan).then_some(WHOLE)
        }
        Section::Transformer
        | Section::Parallel
        | Section::Schedule
        | Section::Training
        | Section::Memory
        | Section::Routing
        | Section::Kernel => None,
    };
    let is_script = matches!(target, Target::Megatron | Target::Mindspeed);
    general.unwrap_or(match (by_code, is_spelled(knob), is_script) {
        (true, _, _) => CODE,
        (false, true, _) => SPELLED,
        (false, false, true) => ARGUMENT,
        (false, false, false) => KEY,
    })
}

/// Whether a file of the target would set a knob if it had a word for it. The others are set
/// elsewhere, or not at all.
pub(super) fn is_of_file(target: Target, knob: KnobId) -> bool {
    [SPELLED, ARGUMENT, KEY, WHOLE].contains(&reason(target, knob))
}

/// The reason for a knob of an engine's command.
pub(super) fn of_serving(knob: KnobId) -> &'static str {
    let is_request = matches!(
        knob,
        KnobId::input_length
            | KnobId::output_length
            | KnobId::concurrency
            | KnobId::request_rate
            | KnobId::ttft_limit_milliseconds
            | KnobId::tpot_limit_milliseconds
            | KnobId::prefix_cache_hit_rate
            | KnobId::acceptance_length
            | KnobId::expert_cache_hit_rate
    );
    match knob.knob().section {
        Section::Serving if is_request => REQUESTS,
        Section::Serving => FLAG,
        Section::Transformer => WEIGHTS,
        Section::Cluster => MACHINE,
        Section::Routing => MEASURED,
        Section::Parallel
        | Section::Schedule
        | Section::Training
        | Section::Memory
        | Section::Kernel
        | Section::Run => TRAINING,
    }
}

/// Whether a knob is about how a figure is counted.
fn is_counted(knob: KnobId) -> bool {
    matches!(knob, KnobId::attention_flops | KnobId::count_mtp_flops | KnobId::peak_for_mfu)
}

/// Whether a knob describes the data: its lengths, or how uneven they are.
fn is_of_data(knob: KnobId) -> bool {
    knob == KnobId::data_imbalance || knob.knob().name.starts_with("length_")
}

/// Whether a knob of kernels is about the software's own speed: a rate, a time, a profile, or what
/// isn't offered. The others choose a kernel.
fn is_software(knob: KnobId) -> bool {
    let is_measured =
        matches!(knob.knob().kind, Kind::Real(..) | Kind::OptionalReal(..) | Kind::Hash);
    let is_release = matches!(knob, KnobId::framework | KnobId::software);
    is_measured || is_release || knob.knob().not_offered.is_some()
}

/// Whether a knob has several spellings that place and recompute the same layers.
fn is_spelled(knob: KnobId) -> bool {
    matches!(
        knob,
        KnobId::noop_layers | KnobId::pipeline_model_parallel_layout | KnobId::recompute_num_layers
    )
}
