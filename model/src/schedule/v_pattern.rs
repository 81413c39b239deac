//! V-half and V-min: less memory than 1F1B by a repeated pattern, two chunks in a V.

use alloc::vec;
use alloc::vec::Vec;

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};
use crate::ground::choice::Method;

/// V-half holds about half of 1F1B's micro-batches, V-min about a third, evenly on all stages.
///
/// Time is cut into slots of one task. Each micro-batch repeats a pattern six slots after the one
/// before: the four passes through a stage's two chunks at fixed slots, weight gradients in the two
/// that are free. [`Slots::squeeze`] then moves tasks of the warm-up ahead as far as the pattern's
/// memory allows, [`Slots::squeeze_cool_down`] those of the cool-down. The order of the slots is
/// the order of the tasks.
///
/// Source: Qi et al. 2024, "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362,
/// section 3 and appendix (patterns); the reordering is the greedy one of sail-sg's repository
/// `zero-bubble-pipeline-parallelism` and of AMD's Primus (`zbv_greedy.py`).
pub(super) fn write(schedule: &Schedule, lists: &mut TaskLists) {
    let mut slots = Slots::from_pattern(schedule);
    slots.squeeze();
    slots.squeeze_cool_down();
    slots.list(lists);
}

/// Slots after which the next micro-batch repeats the pattern.
const PERIOD: u32 = 6;
/// Slots behind the last input gradient, for the weight gradients that still wait: in a period as
/// many slots are free as weight gradients come.
const TAIL: u32 = 4;

const FORWARD: u32 = 0;
const INPUT_GRAD: u32 = 1;
const WEIGHT_GRAD: u32 = 2;

/// The slots of a stage's four passes through its chunks, for micro-batch 0.
fn pattern(schedule: &Schedule, i: u32) -> [(Pass, u32); 4] {
    let p = schedule.stages;
    // Without a gap, tasks of two micro-batches would fall into one slot.
    let slots = if schedule.method == Method::VMin {
        let gap = if p.is_multiple_of(3) { 2 } else { 0 };
        [i, 2 * p - i - 1, 2 * p + gap + i, 4 * p + gap - i - 1]
    } else {
        let gap = if p.is_multiple_of(2) { 3 } else { 0 };
        [2 * i, 3 * p - i - 2, 3 * p + gap + 2 * i - 1, 6 * p + gap - i - 2]
    };
    let passes = [(FORWARD, 0), (FORWARD, 1), (INPUT_GRAD, 1), (INPUT_GRAD, 0)];
    let pass = |(kind, chunk)| Pass { kind, chunk, micro_batch: 0 };
    core::array::from_fn(|index| (pass(passes[index]), slots[index]))
}

/// A task: its kind, chunk and micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    kind: u32,
    chunk: u32,
    micro_batch: u32,
}

impl Pass {
    fn task(self) -> Task {
        let kinds = [TaskKind::Forward, TaskKind::InputGrad, TaskKind::WeightGrad];
        Task::new(kinds[self.kind as usize], self.chunk as u16, self.micro_batch)
    }

    /// Change in the number of chunks that a stage holds.
    fn holds(self) -> i16 {
        match self.kind {
            FORWARD => 1,
            INPUT_GRAD => 0,
            _ => -1,
        }
    }
}

/// A pass in 32 bits, 22 of them for the micro-batch ([`Schedule::MAX_TASKS`]); 0 is a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u32);

impl Slot {
    const FREE: Self = Self(0);
    const COOL_DOWN: u32 = 1 << 31;

    fn new(pass: Pass, cool_down: bool) -> Self {
        let code = (pass.micro_batch << 3 | pass.kind << 1 | pass.chunk) + 1;
        Self(code | if cool_down { Self::COOL_DOWN } else { 0 })
    }

    fn pass(self) -> Option<Pass> {
        let code = (self.0 & !Self::COOL_DOWN).checked_sub(1)?;
        Some(Pass { kind: code >> 1 & 3, chunk: code & 1, micro_batch: code >> 3 })
    }

    fn cools_down(self) -> bool {
        self.0 & Self::COOL_DOWN != 0
    }
}

/// The tasks of all stages in slots of one task.
struct Slots {
    stages: u32,
    micro_batches: u32,
    /// Slots of a stage.
    width: usize,
    /// Words of 64 slots of a stage.
    words: usize,
    /// At `stage * width + slot`.
    slots: Vec<Slot>,
    /// The slots that aren't free, one bit each.
    taken: Vec<u64>,
    /// The most chunks that a stage holds in the pattern.
    most: i16,
    /// The slot of a pass, at `((stage * 3 + kind) * 2 + chunk) * micro_batches + micro_batch`.
    when: Vec<u32>,
}

impl Slots {
    fn from_pattern(schedule: &Schedule) -> Self {
        let (stages, micro_batches) = (schedule.stages, schedule.micro_batches);
        let last = pattern(schedule, 0)[3].1 + PERIOD * (micro_batches - 1);
        let width = (last + 1 + TAIL) as usize;
        let (size, words) = (width * stages as usize, width / 64 + 1);
        let mut slots = Self {
            stages,
            micro_batches,
            width,
            words,
            slots: vec![Slot::FREE; size],
            taken: vec![0; words * stages as usize],
            most: 0,
            when: vec![0; 6 * stages as usize * micro_batches as usize],
        };
        for stage in 0..stages {
            for (pass, first) in pattern(schedule, stage) {
                for micro_batch in 0..micro_batches {
                    let pass = Pass { micro_batch, ..pass };
                    slots.put(stage, first + PERIOD * micro_batch, Slot::new(pass, false));
                }
            }
            slots.fill(stage);
        }
        slots
    }

    /// Puts weight gradients into free slots, first in first out; marks what belongs to the
    /// cool-down; counts what is held.
    fn fill(&mut self, stage: u32) {
        let last = self.micro_batches - 1;
        let mut waiting: Vec<Pass> = Vec::with_capacity(2 * self.micro_batches as usize);
        let (mut taken, mut held, mut cool_down) = (0, 0, false);
        for slot in 0..self.width as u32 {
            let place = self.place(stage, slot);
            let pass = self.slots[place].pass().or_else(|| waiting.get(taken).copied());
            let Some(pass) = pass else { continue };
            held += pass.holds();
            self.most = self.most.max(held);
            self.put(stage, slot, Slot::new(pass, cool_down));
            match (pass.kind, pass.chunk, pass.micro_batch) {
                (WEIGHT_GRAD, ..) => taken += 1,
                (INPUT_GRAD, 0, 0) => cool_down = false,
                (FORWARD, 1, micro_batch) if micro_batch == last => cool_down = true,
                _ => {}
            }
            if pass.kind == INPUT_GRAD {
                waiting.push(Pass { kind: WEIGHT_GRAD, ..pass });
            }
        }
        debug_assert_eq!(taken, waiting.len(), "weight gradients without a slot");
    }

    /// Moves each task, in the order of the slots, to the earliest free slot that it can run in and
    /// from which on the stage never holds more than the pattern's most.
    fn squeeze(&mut self) {
        let mut held: Vec<HeldChunks> =
            (0..self.stages).map(|_| HeldChunks::new(self.width)).collect();
        for slot in 0..self.width as u32 {
            for (stage, held) in (0..self.stages).zip(&mut held) {
                let task = self.at(stage, slot);
                let Some(pass) = task.pass() else { continue };
                let mut earliest = self.earliest(stage, pass);
                if pass.kind == FORWARD {
                    earliest = held.first_with_room(earliest, slot, self.most - 1);
                }
                let target = self.first_free(stage, earliest, slot).unwrap_or(slot);
                held.add(target, pass.holds());
                if target != slot {
                    self.clear(stage, slot);
                    self.put(stage, target, task);
                }
            }
        }
    }

    /// Moves the tasks of the cool-down, where memory only falls: weight gradients make room for
    /// the others and then take the first slots that are free.
    fn squeeze_cool_down(&mut self) {
        let mut weight_grads = Vec::new();
        for slot in 0..self.width as u32 {
            for stage in 0..self.stages {
                let task = self.at(stage, slot);
                let Some(pass) = task.pass().filter(|_| task.cools_down()) else { continue };
                if pass.kind == WEIGHT_GRAD {
                    weight_grads.push((stage, task));
                    self.clear(stage, slot);
                    continue;
                }
                let earliest = self.earliest(stage, pass);
                if let Some(target) = self.first_free(stage, earliest, slot) {
                    self.clear(stage, slot);
                    self.put(stage, target, task);
                }
            }
        }
        let end = self.width as u32;
        for (stage, task) in weight_grads {
            let earliest = task.pass().map_or(0, |pass| self.earliest(stage, pass));
            if let Some(target) = self.first_free(stage, earliest, end) {
                self.put(stage, target, task);
            }
        }
    }

    /// The first slot that a pass can run in: behind the same pass of the micro-batch before and
    /// behind the pass that it needs.
    fn earliest(&self, stage: u32, pass: Pass) -> u32 {
        let Pass { kind, chunk, micro_batch } = pass;
        let mut behind = None;
        if let Some(before) = micro_batch.checked_sub(1) {
            behind = Some(self.when(stage, Pass { micro_batch: before, ..pass }));
        }
        if kind == WEIGHT_GRAD {
            // Both are in slots that aren't free.
            return behind
                .max(Some(self.when(stage, Pass { kind: INPUT_GRAD, ..pass })))
                .unwrap_or(0);
        }
        // A forward runs down chunk 0 and up chunk 1, input gradients the other way round.
        let down = (kind == FORWARD) == (chunk == 0);
        let turns = if down { stage == 0 } else { stage == self.stages - 1 };
        let needed = match (turns, kind, chunk) {
            (false, ..) => {
                let neighbour = if down { stage - 1 } else { stage + 1 };
                Some(self.when(neighbour, pass))
            }
            (true, FORWARD, 0) => None,
            (true, FORWARD, _) => Some(self.when(stage, Pass { chunk: 0, ..pass })),
            (true, _, 1) => Some(self.when(stage, Pass { kind: FORWARD, ..pass })),
            (true, ..) => Some(self.when(stage, Pass { chunk: 1, ..pass })),
        };
        behind.max(needed).map_or(0, |slot| slot + 1)
    }

    /// The first free slot from `earliest` on and before `end`.
    fn first_free(&self, stage: u32, earliest: u32, end: u32) -> Option<u32> {
        let row = stage as usize * self.words;
        let (first, last) = (earliest as usize / 64, end as usize / 64);
        // Slots before `earliest` count as taken.
        let mut before = (1_u64 << (earliest % 64)) - 1;
        for word in first..=last {
            let free = !(self.taken[row + word] | before);
            if free != 0 {
                let slot = (word * 64) as u32 + free.trailing_zeros();
                return (slot < end).then_some(slot);
            }
            before = 0;
        }
        None
    }

    /// Writes the tasks of each stage in the order of their slots.
    fn list(&self, lists: &mut TaskLists) {
        for row in self.slots.chunks(self.width) {
            lists.tasks.extend(row.iter().filter_map(|slot| slot.pass()).map(Pass::task));
            lists.end_stage();
        }
    }

    fn place(&self, stage: u32, slot: u32) -> usize {
        stage as usize * self.width + slot as usize
    }

    fn at(&self, stage: u32, slot: u32) -> Slot {
        self.slots[self.place(stage, slot)]
    }

    fn word(&self, stage: u32, slot: u32) -> usize {
        stage as usize * self.words + slot as usize / 64
    }

    fn clear(&mut self, stage: u32, slot: u32) {
        let (place, word) = (self.place(stage, slot), self.word(stage, slot));
        self.slots[place] = Slot::FREE;
        self.taken[word] &= !(1 << (slot % 64));
    }

    fn put(&mut self, stage: u32, slot: u32, task: Slot) {
        let (place, word) = (self.place(stage, slot), self.word(stage, slot));
        self.slots[place] = task;
        self.taken[word] |= 1 << (slot % 64);
        if let Some(pass) = task.pass() {
            let when = self.when_place(stage, pass);
            self.when[when] = slot;
        }
    }

    fn when_place(&self, stage: u32, pass: Pass) -> usize {
        let row = (stage * 3 + pass.kind) * 2 + pass.chunk;
        row as usize * self.micro_batches as usize + pass.micro_batch as usize
    }

    fn when(&self, stage: u32, pass: Pass) -> u32 {
        self.when[self.when_place(stage, pass)]
    }
}

/// The chunks that a stage holds in each slot, counting the tasks that have their place already.
struct HeldChunks {
    /// Up to the last slot with a task; behind it, it stays `now`.
    settled: Vec<i16>,
    now: i16,
}

impl HeldChunks {
    fn new(width: usize) -> Self {
        Self { settled: Vec::with_capacity(width), now: 0 }
    }

    /// The first slot from `earliest` on and before `end`, from which to `end` no more than `most`
    /// are held; `end` if there is none.
    fn first_with_room(&self, earliest: u32, end: u32, most: i16) -> u32 {
        if self.now > most && self.settled.len() < end as usize {
            return end;
        }
        let settled = self.settled.get(earliest as usize..).unwrap_or(&[]);
        let full = settled.iter().rposition(|held| *held > most);
        full.map_or(earliest, |full| earliest + full as u32 + 1)
    }

    /// A task that holds `change` more comes into that slot.
    fn add(&mut self, slot: u32, change: i16) {
        if slot as usize >= self.settled.len() {
            self.settled.resize(slot as usize + 1, self.now);
        }
        self.now += change;
        if change != 0 {
            self.settled.iter_mut().skip(slot as usize).for_each(|held| *held += change);
        }
    }
}
