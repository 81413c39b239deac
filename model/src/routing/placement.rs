//! Which device holds which expert.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::measure;
use super::trace::sum;
use crate::ground::sorting::sort_numbers;

/// A slot that holds no expert.
const FREE: u32 = u32::MAX;

/// Which device holds which expert: every device has as many slots, an expert is in one slot
/// or, with redundant copies, in several on different devices, which share its tokens evenly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    per_device: usize,
    slots: Vec<u32>,
    copies: Vec<u32>,
    /// Whether every expert is in one slot.
    is_single: bool,
}

/// An expert that a device gets from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The expert.
    pub expert: u32,
    /// Device that has it.
    pub from: u32,
    /// Device that gets it.
    pub to: u32,
}

impl Placement {
    /// Megatron-Core's: the first E / D experts on the first device, and so on; `redundant` slots
    /// are shared out over the devices and stay free.
    ///
    /// Where devices don't divide the experts or the redundant slots, the last devices hold less.
    #[must_use]
    pub fn contiguous(experts: usize, devices: usize, redundant: usize) -> Self {
        let devices = devices.max(1);
        let own = experts.div_ceil(devices);
        let per_device = own + redundant.div_ceil(devices);
        let mut slots = vec![FREE; per_device * devices];
        for expert in 0..experts {
            slots[expert / own * per_device + expert % own] = expert as u32;
        }
        Self { per_device, slots, copies: vec![1; experts], is_single: true }
    }

    /// The greedy plan for these loads: the heaviest expert to the device with the fewest tokens
    /// among those that have a free slot, and so on (LPT with slots).
    ///
    /// Of `redundant` slots each goes first to the expert whose copies are heaviest, as in
    /// DeepSeek's EPLB; a device never holds an expert twice while another one has room.
    ///
    /// Without redundant copies the fullest device has, next to the best plan,
    /// - at most 4/3 - 1/(3 m) as much on m devices whose slots are never short (Graham 1969), and
    ///   as well when a device has three slots (Kellerer and Woeginger 1993); with two slots the
    ///   plan is the best one;
    /// - else at most 7/3 - 1/(3 m). Derivation: until the first device is full this is LPT. From
    ///   then on a device gets at most k - 1 of k experts, none heavier than the lightest s on the
    ///   full one. That one was the emptiest when it got its last expert, so that every device
    ///   had (k - 1) s, and the mean, which no plan is below, is at least that.
    ///
    /// # Source
    /// MindSpeed, `moe_expert_load_balance_placeemnt.md`; deepseek-ai/EPLB; Graham 1969, "Bounds on
    /// multiprocessing timing anomalies"; Kellerer and Woeginger 1993, "A tight bound for
    /// 3-partitioning".
    #[must_use]
    pub fn greedy(loads: &[f64], devices: usize, redundant: usize) -> Self {
        Self::greedy_from(loads, devices, redundant, &mut Vec::new())
    }

    /// The greedy plan, quicker where experts are nearly in that order already: `order` is their
    /// order for the last loads, and becomes that for these.
    pub(super) fn greedy_from(
        loads: &[f64],
        devices: usize,
        redundant: usize,
        order: &mut Vec<u32>,
    ) -> Self {
        let devices = devices.max(1);
        let mut plan = Self::contiguous(loads.len(), devices, redundant);
        plan.slots.fill(FREE);
        plan.copies = copies(loads, devices, redundant);
        plan.is_single = plan.copies.iter().all(|copies| *copies == 1);
        let share = |(load, count): (&f64, &u32)| load / f64::from(*count);
        let shares: Vec<f64> = loads.iter().zip(&plan.copies).map(share).collect();
        put_in_order(order, &shares);
        let empty = |device| Device { place: in_order(0.0), load: 0.0, device, held: 0 };
        let mut queue: BinaryHeap<Device> = (0..devices as u32).map(empty).collect();
        let mut refused = Vec::new();
        for expert in order.iter().copied() {
            let share = shares[expert as usize];
            if plan.copies[expert as usize] > 1 {
                plan.place_copies(expert, share, &mut queue, &mut refused);
            } else if let Some(mut device) = queue.peek_mut()
                && plan.take(&mut device, expert, share)
            {
                PeekMut::pop(device);
            }
        }
        plan
    }

    /// Puts an expert on a device; true when that is full then.
    fn take(&mut self, device: &mut Device, expert: u32, share: f64) -> bool {
        self.slots[device.device as usize * self.per_device + device.held] = expert;
        device.held += 1;
        device.load += share;
        device.place = in_order(device.load);
        device.held == self.per_device
    }

    /// Puts all copies of an expert on the emptiest devices that don't hold it yet.
    fn place_copies(
        &mut self,
        expert: u32,
        share: f64,
        queue: &mut BinaryHeap<Device>,
        refused: &mut Vec<Device>,
    ) {
        for _ in 0..self.copies[expert as usize] {
            // Devices that hold this expert already wait until it has found its place.
            let mut taken = queue.pop();
            while let Some(device) = taken.filter(|device| self.holds(*device, expert)) {
                refused.push(device);
                taken = queue.pop();
            }
            let taken = taken.or_else(|| refused.pop());
            queue.extend(refused.drain(..));
            let Some(mut device) = taken else { continue };
            if !self.take(&mut device, expert, share) {
                queue.push(device);
            }
        }
    }

    fn holds(&self, device: Device, expert: u32) -> bool {
        self.device(device.device as usize).any(|held| held == expert)
    }

    /// The fullest device's tokens over the mean, for these tokens of each expert.
    ///
    /// The same as of [`Self::device_tokens`]; whole tokens are added as integers.
    pub(super) fn token_imbalance(&self, tokens: &[u32], loads: &mut Vec<f64>) -> f64 {
        if !self.is_single {
            self.device_tokens(tokens, loads);
            return measure::imbalance(loads);
        }
        let load = |slots: &[u32]| -> u64 {
            let held = slots.iter().map(|expert| tokens.get(*expert as usize));
            held.map(|count| count.map_or(0, |count| u64::from(*count))).sum()
        };
        imbalance(self.slots.chunks_exact(self.per_device.max(1)).map(load), self.devices())
    }

    /// The fullest device's tokens over the mean, for experts in their first places.
    pub(super) fn first_imbalance(tokens: &[u32], devices: usize) -> f64 {
        let devices = devices.max(1);
        let own = tokens.len().div_ceil(devices).max(1);
        imbalance(tokens.chunks(own).map(sum), devices)
    }

    /// Devices.
    #[must_use]
    pub fn devices(&self) -> usize {
        self.slots.len() / self.per_device.max(1)
    }

    /// Experts, each counted once.
    #[must_use]
    pub fn experts(&self) -> usize {
        self.copies.len()
    }

    /// Slots of a device.
    #[must_use]
    pub const fn slots_per_device(&self) -> usize {
        self.per_device
    }

    /// Copies of an expert; none of one that isn't there.
    #[must_use]
    pub fn copies(&self, expert: usize) -> u32 {
        self.copies.get(expert).copied().unwrap_or(0)
    }

    /// The experts of a device.
    pub fn device(&self, device: usize) -> impl Iterator<Item = u32> {
        let start = (device * self.per_device).min(self.slots.len());
        let end = (start + self.per_device).min(self.slots.len());
        self.slots[start..end].iter().copied().filter(|expert| *expert != FREE)
    }

    /// Tokens of each device for these tokens of each expert.
    pub fn device_tokens(&self, tokens: &[u32], loads: &mut Vec<f64>) {
        self.device_sums(|expert| tokens.get(expert).copied().map_or(0.0, f64::from), loads);
    }

    /// Load of each device, for loads that are no whole tokens.
    pub fn device_loads(&self, tokens: &[f64], loads: &mut Vec<f64>) {
        self.device_sums(|expert| tokens.get(expert).copied().unwrap_or(0.0), loads);
    }

    fn device_sums(&self, load: impl Fn(usize) -> f64, sums: &mut Vec<f64>) {
        let share = |expert: &u32| {
            let expert = *expert as usize;
            self.copies.get(expert).map_or(0.0, |copies| load(expert) / f64::from(*copies))
        };
        let device = |slots: &[u32]| slots.iter().map(&share).sum::<f64>();
        sums.clear();
        sums.extend(self.slots.chunks_exact(self.per_device.max(1)).map(device));
    }

    /// The experts that devices must get to come from this placement to another one, each from the
    /// holder that has sent the fewest so far.
    #[must_use]
    pub fn moves_to(&self, other: &Self) -> Vec<Move> {
        let mut sent = vec![0_u32; self.devices()];
        let holders = Holders::new(self);
        let mut moves = Vec::new();
        for to in 0..other.devices() as u32 {
            for expert in other.device(to as usize) {
                let holders = holders.slots(expert);
                if holders.contains(&to) {
                    continue;
                }
                let from = holders.iter().min_by_key(|device| sent[**device as usize]);
                if let Some(from) = from.copied() {
                    sent[from as usize] += 1;
                    moves.push(Move { expert, from, to });
                }
            }
        }
        moves
    }
}

/// Devices that hold each expert, in the order of the devices.
struct Holders {
    /// Where each expert's holders begin, and how many there are.
    places: Vec<[u32; 2]>,
    devices: Vec<u32>,
}

impl Holders {
    fn new(placement: &Placement) -> Self {
        let mut next = 0;
        let start = |copies: &u32| {
            let start = next;
            next += copies;
            [start, 0]
        };
        let mut places: Vec<[u32; 2]> = placement.copies.iter().map(start).collect();
        let mut devices = vec![0; next as usize];
        for device in 0..placement.devices() {
            for expert in placement.device(device) {
                let [start, count] = &mut places[expert as usize];
                devices[(*start + *count) as usize] = device as u32;
                *count += 1;
            }
        }
        Self { places, devices }
    }

    fn slots(&self, expert: u32) -> &[u32] {
        let [start, count] = self.places.get(expert as usize).copied().unwrap_or_default();
        self.devices.get(start as usize..(start + count) as usize).unwrap_or(&[])
    }
}

/// The largest of the loads of this many devices over their mean; 1 when all get none.
///
/// The same as [`measure::imbalance`], since sums of tokens are exact in a float up to 2^53.
fn imbalance(loads: impl Iterator<Item = u64>, devices: usize) -> f64 {
    let (mut most, mut sum) = (0, 0);
    for load in loads {
        most = load.max(most);
        sum += load;
    }
    if sum > 0 { most as f64 * devices as f64 / sum as f64 } else { 1.0 }
}

/// Puts experts in the order of their shares, the heaviest first, of equals the first.
///
/// From one plan to the next loads change little: what is nearly in order is mended in passing.
fn put_in_order(order: &mut Vec<u32>, shares: &[f64]) {
    let keys: Vec<i64> = shares.iter().map(|share| !in_order(*share)).collect();
    if order.len() != shares.len() || !mended(order, &keys) {
        let mut all: Vec<(i64, u32)> = keys.into_iter().zip(0..).collect();
        all.sort_unstable();
        order.clear();
        order.extend(all.into_iter().map(|(_, expert)| expert));
    }
}

/// Puts experts in the order of these keys by insertion; false where sorting anew is quicker.
fn mended(order: &mut [u32], keys: &[i64]) -> bool {
    let key = |expert: u32| (keys[expert as usize], expert);
    let mut shifts = MAX_SHIFTS * order.len();
    for at in 1..order.len() {
        let (expert, own) = (order[at], key(order[at]));
        let mut to = at;
        while to > 0 && own < key(order[to - 1]) {
            order[to] = order[to - 1];
            to -= 1;
        }
        order[to] = expert;
        match shifts.checked_sub(at - to) {
            Some(left) => shifts = left,
            None => return false,
        }
    }
    true
}

/// Shifts for each expert after which sorting anew is quicker.
const MAX_SHIFTS: usize = 6;

/// A number that orders as the float does, by [`f64::total_cmp`].
pub(super) const fn in_order(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Copies of each expert: each redundant slot to the expert whose copies are heaviest, but no
/// expert has more copies than there are devices.
fn copies(loads: &[f64], devices: usize, redundant: usize) -> Vec<u32> {
    let mut copies = vec![1_u32; loads.len()];
    for _ in 0..redundant {
        let share = |at: usize| loads[at] / f64::from(copies[at]);
        let heaviest = (0..loads.len())
            .filter(|at| (copies[*at] as usize) < devices)
            .max_by(|one, other| share(*one).total_cmp(&share(*other)).then(other.cmp(one)));
        match heaviest {
            Some(expert) => copies[expert] += 1,
            None => break,
        }
    }
    copies
}

/// A device while slots are filled: the emptiest comes first, of equals the first.
#[derive(Clone, Copy)]
struct Device {
    /// Place of the load among those of the others.
    place: i64,
    load: f64,
    device: u32,
    held: usize,
}

impl Ord for Device {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.place, other.device).cmp(&(self.place, self.device))
    }
}

impl PartialOrd for Device {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Device {}

/// Lower bound of the fullest device's load under any plan, for one copy of each expert on
/// `devices` with `per_device` slots: the largest of
/// - the mean load,
/// - the heaviest expert, and with it the lightest ones that must share its device because the
///   others have no room: all but (devices - 1) x `per_device`,
/// - of two experts that must share a device, the lightest possible pair: number m and m + 1 of m
///   devices.
///
/// # Source
/// Dell'Amico and Martello 2001, "Bounds for the cardinality constrained P||Cmax problem".
#[must_use]
pub fn lower_bound(loads: &[f64], devices: usize, per_device: usize) -> f64 {
    let devices = devices.max(1);
    let mut sorted = loads.to_vec();
    sort_numbers(&mut sorted);
    sorted.reverse();
    let mean = sorted.iter().sum::<f64>() / devices as f64;
    let elsewhere = (devices - 1).saturating_mul(per_device);
    let shared = sorted.len().saturating_sub(elsewhere).saturating_sub(1);
    let lightest: f64 = sorted.iter().rev().take(shared).sum();
    let heaviest = sorted.first().map_or(0.0, |load| load + lightest);
    let pair = if sorted.len() > devices { sorted[devices - 1] + sorted[devices] } else { 0.0 };
    mean.max(heaviest).max(pair)
}

#[cfg(test)]
mod tests {
    use super::super::random::{stream, uniform};
    use super::*;

    #[test]
    fn a_plan_is_the_same_from_any_order_of_its_experts() {
        let drawn = |seed, experts| -> Vec<f64> {
            let own = stream(&[seed]);
            (0..experts).map(|expert| libm::floor(uniform(own, expert) * 20.0)).collect()
        };
        for redundant in [0, 5] {
            let mut order = Vec::new();
            for seed in 0..40 {
                // Orders of the loads before, of other loads, and of none.
                let loads = drawn(seed / 2, if seed == 30 { 40 } else { 64 });
                let plan = Placement::greedy_from(&loads, 8, redundant, &mut order);
                assert_eq!(plan, Placement::greedy(&loads, 8, redundant), "{seed}");
            }
        }
    }

    #[test]
    fn whole_tokens_give_the_imbalance_of_their_floats() {
        let tokens: Vec<u32> = (0..64).map(|expert| expert * 37 % 101).collect();
        let loads: Vec<f64> = tokens.iter().map(|count| f64::from(*count)).collect();
        let mut sums = Vec::new();
        for (devices, redundant) in [(8, 0), (7, 0), (8, 9), (64, 0), (100, 0)] {
            let first = Placement::contiguous(64, devices, redundant);
            let plan = Placement::greedy(&loads, devices, redundant);
            for placement in [&first, &plan] {
                placement.device_tokens(&tokens, &mut sums);
                let expected = measure::imbalance(&sums);
                let found = placement.token_imbalance(&tokens, &mut sums);
                assert_eq!(found.to_bits(), expected.to_bits());
                if placement == &first {
                    let found = Placement::first_imbalance(&tokens, devices);
                    assert_eq!(found.to_bits(), expected.to_bits());
                }
            }
        }
    }
}
