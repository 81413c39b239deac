//! Which device holds which expert.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A slot that holds no expert.
const FREE: u32 = u32::MAX;

/// Which device holds which expert: every device has as many slots, an expert stands in one slot
/// or, with redundant copies, in several on different devices, which share its tokens evenly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    per_device: usize,
    slots: Vec<u32>,
    copies: Vec<u32>,
}

/// An expert that a device gets from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The expert.
    pub expert: u32,
    /// Who has it.
    pub from: u32,
    /// Who gets it.
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
        Self { per_device, slots, copies: vec![1; experts] }
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
        let devices = devices.max(1);
        let mut plan = Self::contiguous(loads.len(), devices, redundant);
        plan.slots.fill(FREE);
        plan.copies = copies(loads, devices, redundant);
        let share = |expert: u32| loads[expert as usize] / f64::from(plan.copies[expert as usize]);
        let mut order: Vec<u32> = Vec::with_capacity(loads.len() + redundant);
        for (expert, count) in plan.copies.iter().enumerate() {
            order.extend(core::iter::repeat_n(expert as u32, *count as usize));
        }
        order.sort_by(|one, other| share(*other).total_cmp(&share(*one)).then(one.cmp(other)));
        let mut queue: BinaryHeap<Device> =
            (0..devices as u32).map(|device| Device { load: 0.0, device, held: 0 }).collect();
        let mut refused = Vec::new();
        for expert in order {
            // Devices that hold this expert already wait until it has found its place.
            let mut taken = queue.pop();
            while let Some(device) = taken.filter(|device| plan.holds(*device, expert)) {
                refused.push(device);
                taken = queue.pop();
            }
            let taken = taken.or_else(|| refused.pop());
            queue.extend(refused.drain(..));
            let Some(mut device) = taken else { continue };
            plan.slots[device.device as usize * plan.per_device + device.held] = expert;
            device.held += 1;
            device.load += share(expert);
            if device.held < plan.per_device {
                queue.push(device);
            }
        }
        plan
    }

    fn holds(&self, device: Device, expert: u32) -> bool {
        self.copies[expert as usize] > 1
            && self.device(device.device as usize).any(|held| held == expert)
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

    /// The same for loads that are no whole tokens.
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
        let mut holders = vec![Vec::new(); self.experts()];
        for device in 0..self.devices() {
            for expert in self.device(device) {
                holders[expert as usize].push(device as u32);
            }
        }
        let mut moves = Vec::new();
        for to in 0..other.devices() as u32 {
            for expert in other.device(to as usize) {
                let holders: &[u32] = holders.get(expert as usize).map_or(&[], Vec::as_slice);
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
    load: f64,
    device: u32,
    held: usize,
}

impl Ord for Device {
    fn cmp(&self, other: &Self) -> Ordering {
        other.load.total_cmp(&self.load).then(other.device.cmp(&self.device))
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

/// What no plan's fullest device is below, for one copy of each expert on `devices` with
/// `per_device` slots: the largest of
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
    sorted.sort_by(|one, other| other.total_cmp(one));
    let mean = sorted.iter().sum::<f64>() / devices as f64;
    let elsewhere = (devices - 1).saturating_mul(per_device);
    let shared = sorted.len().saturating_sub(elsewhere).saturating_sub(1);
    let lightest: f64 = sorted.iter().rev().take(shared).sum();
    let heaviest = sorted.first().map_or(0.0, |load| load + lightest);
    let pair = if sorted.len() > devices { sorted[devices - 1] + sorted[devices] } else { 0.0 };
    mean.max(heaviest).max(pair)
}
