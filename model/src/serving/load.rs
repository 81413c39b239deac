//! What requests meet when many are answered at once.
//!
//! Letters, of one attention group: b requests in flight, l of them a second, d those that are
//! decoded together.

use crate::ground::fitted::{Evidence, Fitted};
use crate::ground::units::Seconds;

/// Times of a group's steps.
pub(super) struct Steps<'a> {
    /// Time of a step of decode of so many requests.
    pub(super) step: &'a dyn Fn(f64) -> Seconds,
    /// Time by which one request's prompt delays the others of so many.
    pub(super) delay: &'a dyn Fn(f64) -> Seconds,
    /// Time of a prompt alone, to its first token.
    pub(super) prompt: Seconds,
    /// Tokens of an answer, and those that a step yields.
    pub(super) output: f64,
    pub(super) accepted: f64,
    /// An engine's factor on [`queue`] beyond one.
    pub(super) queue: f64,
}

/// Result of a group under load: requests in flight, their rate and their latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    /// b.
    pub(super) in_flight: f64,
    /// d.
    pub(super) decoding: f64,
    /// l.
    pub(super) rate: f64,
    /// Time to the first token, the median.
    pub(super) ttft: Seconds,
    /// Time of each further token.
    pub(super) tpot: Seconds,
}

impl Flow {
    /// From sending to the last token.
    pub(super) fn latency(&self, output: f64) -> Seconds {
        self.ttft + self.tpot * (output - 1.0).max(0.0)
    }
}

/// A factor times a power of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Power {
    /// The factor.
    pub(crate) factor: f64,
    /// The exponent.
    pub(crate) exponent: f64,
}

/// Rows that [`QUEUE`] and [`QUEUE_BAND`] rest on, and why they are too few.
const QUEUED: (Evidence, &str) =
    (Evidence::Runs(&[("silicon", 135)]), "one source prints first tokens over many loads");

/// Time to the first token over that of a prompt alone, by the requests in flight, the median;
/// [`QUEUE_BAND`] has the rest.
///
/// Requests that end together are sent again together, and queue for the budget of prompts.
///
/// # Source
/// `InferenceX` runs of March and April 2026 in a closed loop: medians of 2.8 and 4.1 at 4
/// requests, 4.3 and 5.6 at 16, 7.9 and 8.7 at 64, 12 and 14 at 128, 17 and 20 at 256, of vLLM and
/// TensorRT-LLM.
pub(crate) const QUEUE: Fitted<Power> =
    Fitted::provisional(Power { factor: 1.2, exponent: 0.52 }, QUEUED.0, QUEUED.1);

/// Parts of the median between which four of five requests' first tokens come.
pub(crate) const QUEUE_BAND: Fitted<[f64; 2]> =
    Fitted::provisional([0.55, 1.8], QUEUED.0, QUEUED.1);

/// Factor of [`QUEUE`] for this many requests in flight.
pub(super) fn queue(in_flight: f64) -> f64 {
    let Power { factor, exponent } = QUEUE.get();
    if in_flight <= 1.0 { 1.0 } else { libm::pow(in_flight, exponent) * factor }
}

/// Rounds of the fixed point below.
const FIXED_POINT_ROUNDS: usize = 24;

/// The flow of a closed loop of b requests, each of which is sent when one is answered.
///
/// By Little's law b = l (TTFT + (output - 1) TPOT). Those that wait for their first token aren't
/// decoded: d = b - l TTFT. Prompts take the share l x delay of the time from steps of decode:
/// TPOT = step(d) / accepted / (1 - l delay).
pub(super) fn closed(steps: &Steps<'_>, in_flight: f64) -> Flow {
    let further = (steps.output - 1.0).max(0.0);
    let mut flow = Flow { in_flight, decoding: in_flight, ..Flow::default() };
    flow.tpot = (steps.step)(in_flight) / steps.accepted;
    for _ in 0..FIXED_POINT_ROUNDS {
        let delay = (steps.delay)(flow.decoding);
        // Behind those that wait already, and where requests come in bursts behind more.
        let others = (1.0 - 1.0 / in_flight.max(1.0)).max(0.0);
        let in_front = (flow.rate * flow.ttft.get() * others).min(in_flight - 1.0).max(0.0);
        let queue = (1.0 + steps.queue * (queue(in_flight) - 1.0)).max(1.0 + in_front);
        let waiting = steps.prompt * queue;
        let latency = waiting + flow.tpot * further;
        // A prompt isn't begun faster than the one in front is through.
        let rate = (in_flight / latency.get()).min(0.98 / delay.get().max(1e-12));
        let decoding = (in_flight - rate * waiting.get()).clamp(in_flight.min(1.0), in_flight);
        let free = (1.0 - rate * delay.get() * others).max(0.02);
        let tpot = (steps.step)(decoding) / steps.accepted / free;
        flow.decoding = 0.5 * (flow.decoding + decoding);
        flow.tpot = (flow.tpot + tpot) * 0.5;
        flow.ttft = waiting;
        flow.rate = in_flight / (waiting + flow.tpot * further).get();
    }
    flow
}

/// The flow of requests that arrive at this rate, at most this many at once.
pub(super) fn open(steps: &Steps<'_>, rate: f64, most: f64) -> Flow {
    let [mut low, mut high] = [1e-3, most];
    let full = closed(steps, most);
    if full.rate <= rate {
        return full;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if closed(steps, middle).rate < rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    closed(steps, high)
}
