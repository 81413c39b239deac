//! V-half and V-min: less memory than 1F1B by a repeated pattern, two chunks in a V.

use alloc::vec;
use alloc::vec::Vec;

use super::{Schedule, Task, TaskKind, TaskLists};
use crate::choice::Method;

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

    /// What it adds to the chunks that a stage holds.
    fn holds(self) -> i16 {
        match self.kind {
            FORWARD => 1,
            INPUT_GRAD => 0,
            _ => -1,
        }
    }
}

/// A pass in 32 bits; 0 is a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u32);

impl Slot {
    const FREE: Self = Self(0);
    const COOL_DOWN: u32 = 1 << 31;

    fn new(pass: Pass, cool_down: bool) -> Self {
        let code = (pass.micro_batch * 3 + pass.kind) * 2 + pass.chunk + 1;
        Self(code | if cool_down { Self::COOL_DOWN } else { 0 })
    }

    fn pass(self) -> Option<Pass> {
        let code = (self.0 & !Self::COOL_DOWN).checked_sub(1)?;
        Some(Pass { kind: code / 2 % 3, chunk: code % 2, micro_batch: code / 6 })
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
    /// At `stage * width + slot`.
    slots: Vec<Slot>,
    /// Chunks held in a slot, at `stage * width + slot`.
    held: Vec<i16>,
    /// The slot of a pass, at `((stage * 3 + kind) * 2 + chunk) * micro_batches + micro_batch`.
    when: Vec<u32>,
}

impl Slots {
    fn from_pattern(schedule: &Schedule) -> Self {
        let (stages, micro_batches) = (schedule.stages, schedule.micro_batches);
        let last = pattern(schedule, 0)[3].1 + PERIOD * (micro_batches - 1);
        let width = (last + 1 + TAIL) as usize;
        let size = width * stages as usize;
        let mut slots = Self {
            stages,
            micro_batches,
            width,
            slots: vec![Slot::FREE; size],
            held: vec![0; size],
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
    /// cool-down, counts what is held.
    fn fill(&mut self, stage: u32) {
        let last = self.micro_batches - 1;
        let mut waiting: Vec<Pass> = Vec::with_capacity(2 * self.micro_batches as usize);
        let (mut taken, mut held, mut cool_down) = (0, 0, false);
        for slot in 0..self.width as u32 {
            let place = self.place(stage, slot);
            let pass = self.slots[place].pass().or_else(|| waiting.get(taken).copied());
            held += pass.map_or(0, Pass::holds);
            self.held[place] = held;
            let Some(pass) = pass else { continue };
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
        let most = self.held.iter().copied().max().unwrap_or(0);
        for slot in 0..self.width as u32 {
            for stage in 0..self.stages {
                let task = self.at(stage, slot);
                let Some(pass) = task.pass() else { continue };
                let earliest = self.earliest(stage, pass);
                let room = if pass.kind == FORWARD { most - 1 } else { i16::MAX };
                let Some(target) = self.first_free(stage, earliest, slot, room) else { continue };
                let (from, to) = (self.place(stage, target), self.place(stage, slot));
                self.held[from..to].iter_mut().for_each(|held| *held += pass.holds());
                self.slots[to] = Slot::FREE;
                self.put(stage, target, task);
            }
        }
    }

    /// The same for the cool-down, where memory only falls: weight gradients make room for the
    /// others and then take the first slots that are free.
    fn squeeze_cool_down(&mut self) {
        let mut weight_grads = Vec::new();
        for slot in 0..self.width as u32 {
            for stage in 0..self.stages {
                let task = self.at(stage, slot);
                let Some(pass) = task.pass().filter(|_| task.cools_down()) else { continue };
                let place = self.place(stage, slot);
                if pass.kind == WEIGHT_GRAD {
                    weight_grads.push((stage, task));
                    self.slots[place] = Slot::FREE;
                    continue;
                }
                let earliest = self.earliest(stage, pass);
                if let Some(target) = self.first_free(stage, earliest, slot, i16::MAX) {
                    self.slots[place] = Slot::FREE;
                    self.put(stage, target, task);
                }
            }
        }
        let end = self.width as u32;
        for (stage, task) in weight_grads {
            let earliest = task.pass().map_or(0, |pass| self.earliest(stage, pass));
            if let Some(target) = self.first_free(stage, earliest, end, i16::MAX) {
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
            // Both stand in slots that aren't free.
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

    /// The first free slot from `earliest` on and before `end`, from which to `end` the stage holds
    /// no more than `room`.
    fn first_free(&self, stage: u32, earliest: u32, end: u32, room: i16) -> Option<u32> {
        let mut found = None;
        for slot in earliest..end {
            let place = self.place(stage, slot);
            if self.held[place] > room {
                found = None;
            } else if found.is_none() && self.slots[place] == Slot::FREE {
                found = Some(slot);
                if room == i16::MAX {
                    break;
                }
            }
        }
        found
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

    fn put(&mut self, stage: u32, slot: u32, task: Slot) {
        let place = self.place(stage, slot);
        self.slots[place] = task;
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
