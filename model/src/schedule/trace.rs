//! A timeline as a Chrome trace, which Perfetto and `chrome://tracing` open.
//!
//! The format is the JSON of the Trace Event Format: complete events (`"ph":"X"`) with `ts` and
//! `dur` in microseconds, and metadata events (`"ph":"M"`) that name and sort processes and
//! threads. Times are whole nanoseconds, so that tasks that follow each other without a gap never
//! overlap.
//!
//! Processes and threads have numbers from 1 on: viewers take thread 0 for the idle task of a
//! machine.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::schedule::{Task, TaskKind, Timeline};

/// A value beside an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// A whole number.
    Count(u64),
    /// A time in seconds. The trace has it in microseconds and says so in its name.
    Seconds(f64),
}

/// Event of a trace from one moment to another, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Its name.
    pub name: &'a str,
    /// Category of the event: viewers filter by it.
    pub category: &'a str,
    /// When it starts.
    pub start: f64,
    /// When it ends.
    pub end: f64,
}

/// A Chrome trace while it is written.
#[derive(Clone, Debug)]
pub struct Trace {
    json: String,
    process: u32,
    /// Notes on the trace as a whole: the entries of a JSON object.
    notes: String,
}

impl Trace {
    /// The trace of a schedule as process 1: a thread for each stage, `tid` 1 for stage 0, and an
    /// event for each task, with its chunk and micro-batch.
    ///
    /// `parts` gives what the time of a task on a stage is made of, in seconds.
    #[must_use]
    pub fn new(
        timeline: &Timeline,
        parts: &mut dyn FnMut(usize, Task) -> Vec<(&'static str, f64)>,
    ) -> Self {
        let mut trace = Self {
            json: String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":["),
            process: 0,
            notes: String::new(),
        };
        trace.begin_process("Pipeline stages");
        for stage in 0..timeline.lists.stages() {
            trace.name_thread(stage, &format!("Stage {stage}"));
            for (task, start, end) in timeline.stage(stage) {
                let (name, category) = (letters(&task), category(task.kind));
                let event = Event { name: &name, category, start, end };
                let parts = parts(stage, task).into_iter();
                let parts = parts.map(|(name, seconds)| (name, Arg::Seconds(seconds)));
                let args: Vec<_> = own_args(&task).into_iter().chain(parts).collect();
                trace.add(stage, &event, &args);
            }
        }
        trace
    }

    /// Begins another process: threads and events that follow belong to it.
    pub fn begin_process(&mut self, name: &str) {
        self.process += 1;
        self.metadata("process_name", 0, name);
        self.sort("process_sort_index", 0, self.process as usize);
    }

    /// Names the process's thread of this place, 0 for the first one, and puts it there.
    pub fn name_thread(&mut self, thread: usize, name: &str) {
        self.metadata("thread_name", thread, name);
        self.sort("thread_sort_index", thread, thread);
    }

    /// Adds an event to a thread.
    pub fn add(&mut self, thread: usize, event: &Event<'_>, args: &[(&str, Arg)]) {
        let head = self.head("X", event.name, thread);
        self.json.push_str(&head);
        self.json.push_str(",\"cat\":");
        quote(event.category, &mut self.json);
        let (start, end) = (nanoseconds(event.start), nanoseconds(event.end));
        self.json.push_str(",\"ts\":");
        microseconds(start, &mut self.json);
        self.json.push_str(",\"dur\":");
        microseconds(end.saturating_sub(start), &mut self.json);
        self.json.push_str(",\"args\":{");
        for (index, (name, value)) in args.iter().enumerate() {
            if index > 0 {
                self.json.push(',');
            }
            match value {
                Arg::Count(count) => {
                    quote(name, &mut self.json);
                    let _ = write!(self.json, ":{count}");
                }
                Arg::Seconds(seconds) => {
                    quote(&format!("{name} (µs)"), &mut self.json);
                    self.json.push(':');
                    microseconds(nanoseconds(*seconds), &mut self.json);
                }
            }
        }
        self.json.push_str("}}");
    }

    /// Says something of the trace as a whole; viewers show it under `otherData`.
    pub fn note(&mut self, name: &str, value: &str) {
        if !self.notes.is_empty() {
            self.notes.push(',');
        }
        quote(name, &mut self.notes);
        self.notes.push(':');
        quote(value, &mut self.notes);
    }

    /// The file.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.json.push_str("\n]");
        if !self.notes.is_empty() {
            // Writing to a string can't fail.
            let _ = write!(self.json, ",\"otherData\":{{{}}}", self.notes);
        }
        self.json.push_str("}\n");
        self.json
    }

    fn metadata(&mut self, kind: &str, thread: usize, name: &str) {
        let head = self.head("M", kind, thread);
        self.json.push_str(&head);
        self.json.push_str(",\"args\":{\"name\":");
        quote(name, &mut self.json);
        self.json.push_str("}}");
    }

    fn sort(&mut self, kind: &str, thread: usize, index: usize) {
        let head = self.head("M", kind, thread);
        // Writing to a string can't fail.
        let _ = write!(self.json, "{head},\"args\":{{\"sort_index\":{index}}}}}");
    }

    /// The start of an event, which is left open.
    fn head(&self, phase: &str, name: &str, thread: usize) -> String {
        let comma = if self.json.ends_with('[') { "" } else { "," };
        let mut head = format!("{comma}\n{{\"ph\":\"{phase}\",\"name\":");
        quote(name, &mut head);
        let _ = write!(head, ",\"pid\":{},\"tid\":{}", self.process, thread + 1);
        head
    }
}

/// The letters of a task with its micro-batch: `F3`, `B3`, `dX3`, `dW3`, `F5 B3`.
#[must_use]
pub fn letters(task: &Task) -> String {
    let Task { micro_batch, backward_micro_batch, .. } = task;
    match task.kind {
        TaskKind::Forward => format!("F{micro_batch}"),
        TaskKind::Backward => format!("B{micro_batch}"),
        TaskKind::InputGrad => format!("dX{micro_batch}"),
        TaskKind::WeightGrad => format!("dW{micro_batch}"),
        TaskKind::Pair => format!("F{micro_batch} B{backward_micro_batch}"),
    }
}

const fn category(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Forward => "forward",
        TaskKind::Backward => "backward",
        TaskKind::InputGrad => "input_grad",
        TaskKind::WeightGrad => "weight_grad",
        TaskKind::Pair => "pair",
    }
}

fn own_args(task: &Task) -> Vec<(&'static str, Arg)> {
    let count = |value: u64| Arg::Count(value);
    let mut args = Vec::from([
        ("chunk", count(u64::from(task.chunk))),
        ("micro_batch", count(u64::from(task.micro_batch))),
    ]);
    if task.kind == TaskKind::Pair {
        args.push(("backward_chunk", count(u64::from(task.backward_chunk))));
        args.push(("backward_micro_batch", count(u64::from(task.backward_micro_batch))));
    }
    args
}

fn nanoseconds(seconds: f64) -> u64 {
    // Whatever isn't a time counts as zero.
    (seconds * 1e9 + 0.5) as u64
}

fn microseconds(nanoseconds: u64, json: &mut String) {
    let _ = write!(json, "{}.{:03}", nanoseconds / 1_000, nanoseconds % 1_000);
}

/// Appends text as a JSON string.
fn quote(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::choice::Method;
    use crate::schedule::{ChunkTimes, Schedule, Times};
    use serde_json::Value;

    fn timeline(method: Method, stages: u64, chunks: u64, micro_batches: u64) -> Timeline {
        let schedule = Schedule::new(method, stages, chunks, micro_batches, None).unwrap();
        let stage = ChunkTimes { forward: 0.1 / 3.0, input_grad: 0.05, weight_grad: 0.7 / 13.0 };
        schedule.simulate(&Times::equal(&schedule, stage, None, 1e-5))
    }

    fn events(json: &str) -> Vec<Value> {
        let trace: Value = serde_json::from_str(json).unwrap();
        trace["traceEvents"].as_array().unwrap().clone()
    }

    /// The events of one kind (`ph`) in a process's thread.
    fn events_of<'a>(events: &'a [Value], phase: &str, [pid, tid]: [usize; 2]) -> Vec<&'a Value> {
        let here =
            |event: &&Value| event["ph"] == phase && event["pid"] == pid && event["tid"] == tid;
        events.iter().filter(here).collect()
    }

    /// Checks the form that any viewer may rely on: numbers from 1 on, times that pass, one event
    /// at a time in a thread, and names and places that were given before the first event of a
    /// thread.
    #[track_caller]
    fn check_form(events: &[Value]) {
        let number = |event: &Value, name: &str| event[name].as_u64().unwrap_or(0) as usize;
        let mut named: Vec<([usize; 2], Vec<&str>, f64)> = Vec::new();
        for event in events {
            let lane = ["pid", "tid"].map(|name| number(event, name));
            assert!(lane[0] >= 1 && lane[1] >= 1, "{event}");
            if named.iter().all(|(known, ..)| *known != lane) {
                named.push((lane, Vec::new(), 0.0));
            }
            let (_, metadata, last) = named.iter_mut().find(|known| known.0 == lane).unwrap();
            if event["ph"] == "M" {
                metadata.push(event["name"].as_str().unwrap());
                continue;
            }
            assert!(metadata.ends_with(&["thread_name", "thread_sort_index"]), "{event}");
            let (ts, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            assert!(ts >= *last - 1e-6, "{event} overlaps what ends at {last}");
            assert!(dur >= 0.0, "{event}");
            *last = ts + dur;
        }
        let processes = named.iter().map(|(lane, ..)| lane[0]).max().unwrap_or(0);
        for process in 1..=processes {
            let (_, first, _) = named.iter().find(|(lane, ..)| *lane == [process, 1]).unwrap();
            assert!(first.starts_with(&["process_name", "process_sort_index"]), "{first:?}");
        }
        for event in events.iter().filter(|event| event["name"] == "thread_sort_index") {
            assert_eq!(event["args"]["sort_index"], number(event, "tid") - 1, "{event}");
        }
    }

    #[track_caller]
    fn check(timeline: &Timeline) {
        let json = Trace::new(timeline, &mut |_, _| Vec::new()).finish();
        let events = events(&json);
        check_form(&events);
        let tasks = events.iter().filter(|event| event["ph"] == "X").count();
        assert_eq!(tasks as u64, timeline.schedule.num_tasks());
        for stage in 0..timeline.schedule.stages() {
            let of_stage = events_of(&events, "X", [1, stage + 1]);
            assert_eq!(of_stage.len(), timeline.lists.stage(stage).len());
            for (event, (task, start, end)) in of_stage.iter().zip(timeline.stage(stage)) {
                let (ts, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                assert!((ts - start * 1e6).abs() < 2e-3 && (ts + dur - end * 1e6).abs() < 2e-3);
                assert_eq!(event["name"], letters(&task));
                assert_eq!(event["args"]["micro_batch"], task.micro_batch);
                assert_eq!(event["args"]["chunk"], task.chunk);
            }
        }
    }

    #[test]
    fn a_trace_read_back_has_every_task_at_its_time_and_none_overlaps() {
        check(&timeline(Method::OneForwardOneBackward, 4, 1, 8));
        check(&timeline(Method::Interleaved, 4, 2, 8));
        check(&timeline(Method::ZbH1, 4, 1, 8));
        check(&timeline(Method::DualPipe, 4, 1, 8));
    }

    #[test]
    fn threads_are_named_after_their_stages() {
        let json = Trace::new(&timeline(Method::Gpipe, 2, 1, 2), &mut |_, _| Vec::new()).finish();
        let events = events(&json);
        let names = events.iter().filter(|event| event["name"] == "thread_name");
        let names: Vec<_> = names.map(|event| (&event["tid"], &event["args"]["name"])).collect();
        assert_eq!(names.len(), 2);
        assert_eq!(names[1], (&Value::from(2), &Value::from("Stage 1")));
        assert!(events.iter().all(|event| event["pid"] == 1));
    }

    #[test]
    fn what_is_said_of_the_whole_stands_beside_the_events() {
        let mut trace = Trace::new(&timeline(Method::Gpipe, 1, 1, 1), &mut |_, _| Vec::new());
        trace.note("design", "/?v=1&\"x\"");
        trace.note("date", "2026-01-31");
        let trace: Value = serde_json::from_str(&trace.finish()).unwrap();
        assert_eq!(trace["otherData"]["design"], "/?v=1&\"x\"");
        assert_eq!(trace["otherData"]["date"], "2026-01-31");
        assert!(trace["traceEvents"].as_array().is_some_and(|events| !events.is_empty()));
    }

    #[test]
    fn parts_stand_beside_a_task_in_microseconds_and_another_process_follows() {
        let timeline = timeline(Method::Gpipe, 1, 1, 1);
        let mut trace = Trace::new(&timeline, &mut |_, _| Vec::from([("Core attention", 0.012)]));
        trace.begin_process("One \"pair\"\n");
        trace.name_thread(0, "Compute");
        let event = Event { name: "a\\b", category: "x", start: 1.5, end: f64::NAN };
        trace.add(0, &event, &[("count", Arg::Count(3))]);
        let events = events(&trace.finish());
        check_form(&events);
        let first = events.iter().find(|event| event["ph"] == "X").unwrap();
        assert_eq!(first["args"]["Core attention (µs)"], 12_000.0);
        let last = events.last().unwrap();
        assert_eq!(last["pid"], 2);
        assert_eq!(last["name"], "a\\b");
        assert_eq!(last["ts"], 1_500_000.0);
        assert_eq!(last["dur"], 0.0);
        let process = events.iter().rfind(|event| event["name"] == "process_name").unwrap();
        assert_eq!(process["args"]["name"], "One \"pair\"\n");
    }
}
