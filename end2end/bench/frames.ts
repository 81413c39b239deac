// Frames of a page from a trace of the browser: what its own thread spent on each.

/** What counts: the outermost of these, so that nothing counts twice. */
const WORK = new Set([
  "Commit",
  "EventDispatch",
  "FireAnimationFrame",
  "FunctionCall",
  "Layerize",
  "Layout",
  "Paint",
  "PrePaint",
  "RunMicrotasks",
  "TimerFire",
  "UpdateLayoutTree",
]);

type TraceEvent = {
  name: string;
  ph: string;
  ts: number;
  dur?: number;
  tdur?: number;
  tid: number;
};

/** Milliseconds of work up to each animation frame and in it, in order of size: time in which the
 * thread ran, as others may use the machine. */
export function framesOf(trace: string): number[] {
  const { traceEvents } = JSON.parse(trace) as { traceEvents: TraceEvent[] };
  const frame = traceEvents.find((event) => event.name === "FireAnimationFrame");
  const work = traceEvents
    .filter(({ name, ph, tid }) => ph === "X" && tid === frame?.tid && WORK.has(name))
    .sort((a, b) => a.ts - b.ts);
  const frames: number[] = [];
  let [sum, end] = [0, 0];
  for (const { name, ts, dur = 0, tdur = dur } of work) {
    if (ts < end) continue;
    end = ts + dur;
    sum += tdur / 1000;
    if (name === "FireAnimationFrame") {
      frames.push(sum);
      sum = 0;
    }
  }
  return frames.sort((a, b) => a - b);
}
