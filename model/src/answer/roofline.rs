//! The operators of a step under the roofs of their device: what each does for a byte that it
//! moves, how fast it is, and how fast it could be at most.
//!
//! Everything is computed by the functions that the estimate takes its times from: the same
//! kernels, asked for what they move beside their time (see `tally.rs`). So the operators' times
//! are the compute of the estimate's step, to rounding.

use alloc::vec::Vec;

use crate::device::kernel::{Block, Cost};
use crate::device::operator::{self, Operators, Place};
use crate::device::topology::Machine;
use crate::ground::axis::LinkLevel;
use crate::ground::sorting::sort_short;
use crate::ground::source::{DERIVED, FLASH_ATTENTION, GDN, ROOFLINE, Source};
use crate::ground::tally::Moved;
use crate::ground::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};
use crate::layer::deployment::Deployment;
use crate::layer::mixer::SCAN;
use crate::layer::transformer_layer::{RESIDUALS, Work};
use crate::training::estimate::Communication;
use crate::training::plan::Plan;

pub use crate::ground::tally::Product;

/// A part of the device that computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The cube unit (tensor cores): matrix products and attention.
    Cube,
    /// The vector unit (CUDA cores): everything else.
    Vector,
}

impl Unit {
    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Cube => "cube",
            Self::Vector => "vector",
        }
    }
}

/// A pass of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The forward.
    Forward,
    /// The gradients of inputs and weights; work done again is not counted.
    Backward,
}

impl Direction {
    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }
}

/// The kernels of one kind of a pass on one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// Name of the operators.
    pub name: &'static str,
    /// For which pass.
    pub direction: Direction,
    /// On what.
    pub unit: Unit,
    /// Number of their runs on a device in a step: layers of the mean stage x micro-batches.
    pub calls: f64,
    /// Operations of one call.
    pub flops: Flops,
    /// Traffic of one call from and to device memory.
    pub bytes: Bytes,
    /// Time of one call, launches counted.
    pub seconds: Seconds,
    /// The unit's peak at the precision of these kernels; `None` if none is published.
    pub peak: Option<FlopsPerSecond>,
    /// The matrix products of one call.
    pub products: Vec<Product>,
    /// Formula of the time, in words and symbols.
    pub formula: &'static str,
    /// Where that comes from.
    pub source: Source,
}

impl Operator {
    /// Arithmetic intensity: operations for a byte of device memory.
    #[must_use]
    pub fn intensity(&self) -> f64 {
        self.flops.get() / self.bytes.get()
    }

    /// Achieved rate: operations over time.
    #[must_use]
    pub fn achieved(&self) -> FlopsPerSecond {
        FlopsPerSecond::new(self.flops.get() / self.seconds.get())
    }

    /// Attainable rate under the roofs: the lesser of the unit's peak and intensity x memory
    /// bandwidth.
    #[must_use]
    pub fn attainable(&self, memory: BytesPerSecond) -> FlopsPerSecond {
        let slope = self.intensity() * memory.get();
        FlopsPerSecond::new(self.peak.map_or(slope, |peak| slope.min(peak.get())))
    }

    /// Share of the memory bandwidth that it draws.
    #[must_use]
    pub fn memory_share(&self, memory: BytesPerSecond) -> f64 {
        self.bytes.get() / self.seconds.get() / memory.get()
    }

    /// Time of all its calls in a step.
    #[must_use]
    pub fn step_seconds(&self) -> Seconds {
        self.seconds * self.calls
    }
}

/// The traffic of one axis over one link, under the roof of that link: the operations that a
/// device does in a step for a byte that it sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExchangePoint {
    /// Row of the communication.
    pub row: Communication,
    /// Operations of the cube that the device does in a step.
    pub flops: Flops,
    /// Nominal bandwidth of the link.
    pub bandwidth: BytesPerSecond,
}

impl ExchangePoint {
    /// Operations for a byte sent.
    #[must_use]
    pub fn intensity(&self) -> f64 {
        self.flops.get() / self.row.bytes.get()
    }

    /// Operations over the time of the exchange: below what the cube reaches, the exchange takes
    /// longer than the compute that could hide it.
    #[must_use]
    pub fn achieved(&self) -> FlopsPerSecond {
        FlopsPerSecond::new(self.flops.get() / self.row.time.get())
    }

    /// Attainable rate: operations over the time of the exchange at the link's nominal bandwidth.
    #[must_use]
    pub fn attainable(&self) -> FlopsPerSecond {
        FlopsPerSecond::new(self.intensity() * self.bandwidth.get())
    }
}

/// The operators and exchanges of a step, and the roofs above them.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// Peak of matrix products at the run's precision.
    pub cube: FlopsPerSecond,
    /// Peak of attention, which stays in 16 bits.
    pub attention: FlopsPerSecond,
    /// Peak of the vector unit; `None` if none is published.
    pub vector: Option<FlopsPerSecond>,
    /// Bandwidth of device memory.
    pub memory: BytesPerSecond,
    /// Nominal bandwidth of a device to its node, to the network and to its host.
    pub links: [(LinkLevel, BytesPerSecond); 3],
    /// The operators, those with the largest share of the step first.
    pub operators: Vec<Operator>,
    /// Exchanges and copies of the device.
    pub exchanges: Vec<ExchangePoint>,
}

impl Roofline {
    /// Time of all operators of a step on the mean stage: what a step's ideal compute, its losses
    /// of kernels and its vector work sum up to.
    #[must_use]
    pub fn compute(&self) -> Seconds {
        self.operators.iter().map(Operator::step_seconds).sum()
    }
}

/// The roofline of a plan whose traffic is this.
///
/// Under load imbalance it is that of the mean rank, as are the compute and the traffic of their
/// estimate. Intensities count what the model's formulas move: operands and results once, each
/// pass of an element-wise kernel; what caches keep of it is not foreseen.
///
/// # Source
/// Williams et al. 2009. Bytes and operations: the kernels of `operator.rs` and `layer.rs`.
#[must_use]
pub fn roofline(plan: &Plan, communication: &[Communication]) -> Roofline {
    let even = plan.evened();
    let (row, machine) = (&plan.deployment.accelerator, &plan.deployment.machine);
    let cube = plan.flops.peak;
    let wide = row.bf16_tflops.unwrap_or(row.fp16_tflops) * 1e12;
    let roofs = Roofs {
        cube,
        attention: FlopsPerSecond::new(cube.get().min(wide)),
        vector: row.vector_tflops.map(FlopsPerSecond::tera),
    };
    let operators = operators(kernels(&even), even.batch.micro_batches as f64, &roofs);
    let flops: f64 = operators
        .iter()
        .filter(|operator| operator.unit == Unit::Cube)
        .map(|operator| operator.flops.get() * operator.calls)
        .sum();
    let links = LinkLevel::ALL.map(|level| (level, nominal_bandwidth(machine, level)));
    let sent = communication.iter().filter(|row| row.bytes > Bytes::ZERO);
    let exchanges = sent.map(|row| ExchangePoint {
        row: *row,
        flops: Flops::new(flops),
        bandwidth: nominal_bandwidth(machine, row.link),
    });
    Roofline {
        cube,
        attention: roofs.attention,
        vector: roofs.vector,
        memory: BytesPerSecond::gb(row.hbm_gb_per_sec),
        links,
        exchanges: exchanges.collect(),
        operators,
    }
}

/// The peaks of a device's units.
struct Roofs {
    cube: FlopsPerSecond,
    attention: FlopsPerSecond,
    vector: Option<FlopsPerSecond>,
}

const PRODUCT: &str = "(compute^4 + moving^4)^(1/4) + launch, for each kernel; compute = 2 m k n / \
                       (peak x best product x tiles and alignment), moving = bytes / memory stream";
const FLASH: &str = "(products joined with softmax) x (1 + ramp / keys) x waves + launch; products \
                     = 2 heads x rows x keys x (qk + v) / attention rate, backward 3 qk + 2 v; \
                     softmax = scores x softmaxes / exponentials per second";
const SCANNED: &str = "(products^4 + moving^4)^(1/4) + kernels x launch; products = 2 m k n / \
                       (peak x best product x tiles) for each chunk, those that wait for the \
                       chunk in front as many at a time as there are heads";
const STREAM: &str = "bytes / bandwidth of element-wise kernels + kernels x launch";
const COPIES: &str = "bytes / bandwidth of copies by an index + kernels x launch";

/// Equal kernels of a stage.
struct Kernels {
    name: &'static str,
    block: Block<Moved>,
    /// Number of their runs in a micro-batch.
    count: f64,
    /// Formulas of their time on the cube unit and on the vector unit.
    formulas: [&'static str; 2],
}

fn operators(kernels: Vec<Kernels>, micro_batches: f64, roofs: &Roofs) -> Vec<Operator> {
    let mut list = Vec::new();
    for Kernels { name, block, count, formulas } in kernels {
        let calls = count * micro_batches;
        let backward = block.input_grad + block.weight_grad;
        for (direction, cost) in
            [(Direction::Forward, block.forward), (Direction::Backward, backward)]
        {
            for unit in [Unit::Cube, Unit::Vector] {
                list.extend(operator((name, direction, unit), &cost, calls, formulas, roofs));
            }
        }
    }
    let seconds = |operator: &Operator| operator.step_seconds().get();
    sort_short(&mut list, |one, other| seconds(other).total_cmp(&seconds(one)));
    list
}

/// Operator of a pass of a kind on one unit; `None` if it does nothing there.
fn operator(
    (name, direction, unit): (&'static str, Direction, Unit),
    cost: &Cost<Moved>,
    calls: f64,
    formulas: [&'static str; 2],
    roofs: &Roofs,
) -> Option<Operator> {
    let tally = &cost.tally;
    let is_scan = formulas[0] == SCANNED;
    let is_attention = formulas[0] == FLASH || is_scan;
    let (seconds, flops, bytes, peak, formula) = match unit {
        Unit::Cube => {
            let peak = if is_attention { roofs.attention } else { roofs.cube };
            (cost.tensor, cost.flops, tally.tensor_bytes, Some(peak), formulas[0])
        }
        Unit::Vector => {
            (cost.vector, tally.vector_flops, tally.vector_bytes, roofs.vector, formulas[1])
        }
    };
    let source = match (unit, is_attention) {
        (Unit::Cube, true) if is_scan => GDN,
        (Unit::Cube, true) => FLASH_ATTENTION,
        (Unit::Cube, false) => ROOFLINE,
        (Unit::Vector, _) => DERIVED,
    };
    (seconds > 0.0 && calls > 0.0).then(|| Operator {
        name,
        direction,
        unit,
        calls,
        flops: Flops::new(flops),
        bytes: Bytes::new(bytes),
        seconds: Seconds::new(seconds),
        peak,
        products: if unit == Unit::Cube { tally.products().collect() } else { Vec::new() },
        formula,
        source,
    })
}

/// Every kind of kernel with its count on the mean stage: those of kinds of layers that share name
/// and cost are one.
fn kernels(plan: &Plan) -> Vec<Kernels> {
    let (on, architecture, rows) = (&plan.deployment, &plan.architecture, plan.rows());
    let work: Work<Moved> = Work::new(on, architecture, &rows, plan.loss);
    let stage = plan.mean_stage();
    let mut kernels: Vec<Kernels> = Vec::new();
    let counts = stage.with_mtp(architecture.mtp.kind);
    for (operators, count) in work.kinds.iter().zip(counts).filter(|(_, count)| *count > 0.0) {
        for one in of_layer(on, operators, count) {
            let same = |known: &&mut Kernels| known.name == one.name && known.block == one.block;
            match kernels.iter_mut().find(same) {
                Some(known) => known.count += count,
                None => kernels.push(one),
            }
        }
    }
    let (plain, copies) = ([PRODUCT, STREAM], [PRODUCT, COPIES]);
    let end = |name, block, count, formulas| Kernels { name, block, count, formulas };
    kernels.extend([
        end("MTP projection", work.mtp_extra, stage.mtp, plain),
        end("Embedding", work.embedding, stage.embedding, copies),
        end("Head and loss", work.head, stage.heads(), plain),
        end(RESIDUALS, work.source, stage.sources, plain),
    ]);
    kernels
}

/// The kernels of one layer by their names.
fn of_layer(on: &Deployment, operators: &Operators<Moved>, count: f64) -> Vec<Kernels> {
    let mut kernels: Vec<Kernels> = Vec::new();
    for operator in operators.iter() {
        if let Some(known) = kernels.iter_mut().find(|known| known.name == operator.name) {
            known.block += operator.block;
            continue;
        }
        let is_scan = operator.name == SCAN;
        let is_flash = operator.place == Place::Core && on.kernel.flash_attention;
        let cube = match (is_scan, is_flash) {
            (true, _) => SCANNED,
            (false, true) => FLASH,
            (false, false) => PRODUCT,
        };
        // Copies in expert order.
        let copies = operator.is_routed && operator.place != Place::Experts;
        let formulas = [cube, if copies { COPIES } else { STREAM }];
        let operator::Operator { name, block, .. } = *operator;
        kernels.push(Kernels { name, block, count, formulas });
    }
    kernels
}

/// Bandwidth of a device over a link as its data sheet or the design has it, one direction.
const fn nominal_bandwidth(machine: &Machine, level: LinkLevel) -> BytesPerSecond {
    match level {
        LinkLevel::IntraNode => machine.nominal.intra,
        LinkLevel::InterNode => machine.nominal.inter,
        LinkLevel::Host => machine.host,
    }
}
