// What `moescape backup` and `moescape restore` leave when they are killed at any moment, or when
// the disk is full: always a store that is whole, the old one or the new one.
//
//   node end2end/bench/disk.mjs [--binary PATH] [--kills NUMBER] [--steps NUMBER]
//
// They are killed at moments by chance, and, where there is strace, before each call to the system
// that gives a file its name, takes it away or waits for the disk. Full disks are small tmpfs,
// which root alone can mount; others skip that part.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values: asked } = parseArgs({
  options: {
    binary: { type: "string", default: "target/debug/moescape" },
    kills: { type: "string", default: "20" },
    steps: { type: "string", default: "20" },
  },
});
const KILLS = Number(asked.kills);
const STEPS = Number(asked.steps);

/** Comments of a session, and characters of each: several MB in the database. */
const COMMENTS = 100;
const CHARACTERS = 3_500;

/** The size of the trace. */
const STEPS_OF_TRACE = 300;
const EXPERTS = 64;

const home = mkdtempSync(join(tmpdir(), "moescape-disk-"));

function run(args) {
  const { status, stdout, stderr } = spawnSync(asked.binary, args, { encoding: "utf8" });
  return { status, said: (stdout + stderr).trim() };
}

function must(args) {
  const done = run(args);
  if (done.status !== 0) throw new Error(`${args.join(" ")}: ${done.status} ${done.said}`);
  return done.said;
}

/** Starts a server and gives its address; null where it refuses to start. */
async function serve(data) {
  const child = spawn(asked.binary, ["serve", "--listen", "127.0.0.1:0", "--data", data], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const line = await new Promise((resolve) => {
    child.stdout.on("data", (text) => resolve(String(text)));
    ended.then(() => resolve(""));
  });
  const address = line.match(/http:\/\/\S+/)?.[0];
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { address, kill, said: () => said };
}

async function post(url, body, headers = {}) {
  for (;;) {
    const answer = await fetch(url, { method: "POST", body, headers });
    if (answer.status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      continue;
    }
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

/** Fills a store with sessions and a trace; returns what is to be found in it. */
async function fill(data, sessions, seed) {
  const server = await serve(data);
  const made = [];
  for (let session = 0; session < sessions; session += 1) {
    const link = "preset=pangu-ultra-moe-6k";
    const body = { name: `${seed} ${session}`, link, person: "Ann", key: "ann" };
    const { id, links } = await post(`${server.address}/api/v1/reviews`, JSON.stringify(body));
    const token = links.find((link) => link.role === "edit").token;
    const headers = { authorization: `Bearer ${token}` };
    const texts = Array.from({ length: COMMENTS }, (_, at) => at);
    await Promise.all(
      texts.map((at) => {
        const text = randomBytes(CHARACTERS / 2).toString("hex");
        const change = { kind: "comment", anchor: "design", text };
        const ask = { op: `op-${at}`, change, name: "Ann", key: "ann" };
        return post(`${server.address}/api/v1/reviews/${id}/do`, JSON.stringify(ask), headers);
      }),
    );
    made.push({ id, token, events: COMMENTS + 1 });
  }
  const tokens = () => randomBytes(2).readUInt16LE();
  const rows = Array.from({ length: STEPS_OF_TRACE * EXPERTS }, (_, at) =>
    [Math.floor(at / EXPERTS), 0, at % EXPERTS, tokens()].join(","),
  );
  const trace = ["step,layer,expert,tokens", ...rows, ""].join("\n");
  const { hash } = await post(`${server.address}/api/v1/traces`, trace);
  // Without a word, so that the log still holds what came last.
  await server.kill();
  return { sessions: made, trace: hash };
}

/** Is all of it in a store? */
async function holds(data, content) {
  const server = await serve(data);
  if (!server.address) throw new Error(`a server refuses ${data}: ${server.said()}`);
  try {
    for (const { id, token, events } of content.sessions) {
      const headers = { authorization: `Bearer ${token}` };
      const log = `${server.address}/api/v1/reviews/${id}/log?limit=1000`;
      const answer = await fetch(log, { headers });
      if (!answer.ok || (await answer.json()).events.length !== events) return false;
    }
    return (await fetch(`${server.address}/api/v1/traces/${content.trace}`)).ok;
  } finally {
    await server.kill();
  }
}

/** Runs a command, kills it after so many milliseconds, and says whether it was at work then. */
async function killed(args, after) {
  const child = spawn(asked.binary, args, { stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("exit", (_, signal) => resolve(signal !== null)));
  const timer = setTimeout(() => child.kill("SIGKILL"), after);
  const was = await ended;
  clearTimeout(timer);
  return was;
}

/** Calls before which a command is killed, one after the other. */
const CALLS = ["mkdir", "rename", "unlink", "unlinkat", "rmdir", "fsync", "fdatasync", "ftruncate"];

/** Kills a command before each of these calls that it makes; `judge` says what was left. */
async function atEachCall(args, prepare, judge, name) {
  if (spawnSync("strace", ["-V"]).status !== 0) {
    console.log(`${name} killed before each call: skipped, there is no strace`);
    return;
  }
  const results = [];
  for (const call of CALLS) {
    for (let time = 1; ; time += 1) {
      prepare();
      const kill = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${time}`];
      const trace = ["-f", "-qq", "-o", "/dev/null", ...kill, asked.binary, ...args];
      const { signal } = spawnSync("strace", trace, { stdio: "ignore" });
      if (signal === null) break;
      results.push(await judge());
    }
  }
  count(results, `${name} killed before each of ${results.length} calls`);
}

function milliseconds(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const clean = (...paths) => paths.forEach((path) => rmSync(path, { recursive: true, force: true }));

/** Moments spread evenly, each moved by chance: all of a run is met, from its first millisecond. */
const moments = (whole) =>
  Array.from({ length: KILLS }, (_, at) => ((at + Math.random()) / KILLS) * whole * 1.05);

/** A copy that can be restored is the whole store, and any other is refused. */
async function judgeCopy(copy, target, content) {
  clean(target);
  const { status, said } = run(["restore", "--from", copy, "--data", target]);
  if (status === 0) return (await holds(target, content)) ? "whole" : "BAD: restored, not whole";
  if (existsSync(join(target, "moescape.sqlite"))) return "BAD: refused, but something is restored";
  return said.includes("holds no copy") ? "none" : `refused: ${said}`;
}

const bad = [];
function count(results, name) {
  const counts = {};
  for (const result of results) counts[result] = (counts[result] ?? 0) + 1;
  const wrong = Object.keys(counts).filter((result) => !/^(whole|none|old|new)/.test(result));
  bad.push(...wrong.map((result) => `${name}: ${result}`));
  console.log(`${name}: ${JSON.stringify(counts)}`);
}

async function killBackups(data, content) {
  const [copy, target] = [join(home, "copy"), join(home, "target")];
  const whole = milliseconds(() => must(["backup", "--data", data, "--to", copy]));
  const results = [];
  let again = 0;
  for (const after of moments(whole)) {
    clean(copy);
    const was = await killed(["backup", "--data", data, "--to", copy], after);
    const result = await judgeCopy(copy, target, content);
    results.push(`${result}${was ? "" : " (done before)"}`);
    // Whoever tries again gets a whole copy in the same place.
    if (result === "none") {
      run(["backup", "--data", data, "--to", copy]);
      if ((await judgeCopy(copy, target, content)) === "whole") again += 1;
      else bad.push("a second backup isn't whole");
    }
  }
  count(results, `backup of ${Math.round(whole)} ms killed`);
  await atEachCall(
    ["backup", "--data", data, "--to", copy],
    () => clean(copy),
    () => judgeCopy(copy, target, content),
    "backup",
  );
  console.log(`  made again in the same directory: ${again} whole`);
}

/** Which of the two contents does a store have? */
async function which(data, before, after) {
  if (await holds(data, after)) return "new";
  return (await holds(data, before)) ? "old" : "BAD: neither";
}

async function killRestores(old, before, copy, after) {
  const data = join(home, "data");
  const again = () => {
    clean(data);
    cpSync(old, data, { recursive: true });
  };
  again();
  const args = ["restore", "--from", copy, "--data", data, "--replace"];
  const whole = milliseconds(() => must(args));
  const results = [];
  for (const moment of moments(whole)) {
    again();
    const was = await killed(args, moment);
    const left = existsSync(join(data, "moescape.part")) ? " (parts left)" : "";
    const found = await which(data, before, after);
    if (existsSync(join(data, "moescape.part"))) bad.push("a start leaves the parts of a restore");
    results.push(`${found}${was ? left : " (done before)"}`);
  }
  count(results, `restore of ${Math.round(whole)} ms killed`);
  await atEachCall(args, again, () => which(data, before, after), "restore");
}

/** A small disk with so many bytes left. */
function disk(mib, free) {
  const at = mkdtempSync(join(home, "disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m`, "none", at]);
  return {
    at,
    leave() {
      const { bavail, bsize } = statfsSync(at);
      const rest = bavail * bsize - free;
      if (rest > 0) writeFileSync(join(at, "filler"), Buffer.alloc(rest));
    },
    unmount: () => execFileSync("umount", [at]),
  };
}

async function fullBackups(data, content, most) {
  const results = [];
  for (let step = 0; step < STEPS; step += 1) {
    const small = disk(64, Math.floor((most * step) / (STEPS - 1)));
    small.leave();
    const copy = join(small.at, "copy");
    const { status } = run(["backup", "--data", data, "--to", copy]);
    const left = existsSync(copy) ? readdirSync(copy) : [];
    const found = status === 0 ? await judgeCopy(copy, join(home, "target"), content) : "none";
    const none = left.length === 0 ? "none, nothing left" : `BAD: left ${left}`;
    results.push(status === 0 ? found : none);
    small.unmount();
  }
  count(results, "backup onto a full disk");
}

async function fullRestores(old, before, copy, after, most) {
  const results = [];
  for (let step = 0; step < STEPS; step += 1) {
    const small = disk(64, Math.floor((most * step) / (STEPS - 1)));
    const data = join(small.at, "data");
    cpSync(old, data, { recursive: true });
    small.leave();
    const { status, said } = run(["restore", "--from", copy, "--data", data, "--replace"]);
    if (existsSync(join(data, "moescape.part"))) bad.push("a failed restore leaves its parts");
    if (status !== 0 && !said.includes("as it was")) bad.push(said);
    // A server needs some room to read.
    clean(join(small.at, "filler"));
    const found = await which(data, before, after);
    results.push((status === 0) === (found === "new") ? found : `BAD: exit ${status}, ${found}`);
    small.unmount();
  }
  count(results, "restore onto a full disk");
}

try {
  const [old, newer, copy] = [join(home, "old"), join(home, "newer"), join(home, "whole")];
  [old, newer].forEach((directory) => mkdirSync(directory));
  const before = await fill(old, 8, "old");
  const after = await fill(newer, 16, "new");
  console.log(must(["backup", "--data", newer, "--to", copy]));
  await killBackups(newer, after);
  await killRestores(old, before, copy, after);
  if (process.getuid?.() === 0) {
    const most = statSync(join(copy, "moescape.sqlite")).size * 1.5;
    await fullBackups(newer, after, most);
    await fullRestores(old, before, copy, after, most);
  } else {
    console.log("full disks: skipped, only root can mount them");
  }
} finally {
  clean(home);
}
bad.forEach((line) => console.error(`bad: ${line}`));
process.exit(bad.length === 0 ? 0 : 1);
