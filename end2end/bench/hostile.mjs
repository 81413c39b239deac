// What clients that mean harm cost a server: memory for idle connections, for readers that take
// nothing, and whether others get through. Nothing is asserted but that others do.
//
//   node end2end/bench/hostile.mjs target/release/moescape [READERS]
//
// Linux only: memory is what /proc says, and clients come from addresses of 127.0.0.0/8.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [program, readers = '60'] = process.argv.slice(2);
const CONNECTIONS = 2000;
/** Clients of one address, fewer than a server allows it. */
const EACH = 250;
/** Seconds after which a server has cut off whoever takes nothing. */
const PATIENCE = 45;

/** Starts the program, perhaps with few descriptors, and does something with it. */
async function serving(work, descriptors) {
  const data = mkdtempSync(join(tmpdir(), 'moescape-'));
  const limit = descriptors ? `ulimit -n ${descriptors} && ` : '';
  const start = `${limit}exec "$0" serve --listen 127.0.0.1:0 --data "$1"`;
  const child = spawn('sh', ['-c', start, program, data], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = 0;
  child.stderr.on('data', (text) => (log += String(text).split('\n').length - 1));
  const line = await new Promise((done) => child.stdout.once('data', done));
  const port = Number(/:(\d+)\s*$/.exec(String(line))[1]);
  const memory = () => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
  };
  try {
    await work({ port, memory, log: () => log });
  } finally {
    child.kill('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  }
}

/** A connection of the client of that number; it counts what it hears and when it ends. */
function client(port, number, request = '') {
  const localAddress = `127.0.1.${1 + Math.floor(number / EACH)}`;
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  const it = { socket, bytes: 0, ended: false };
  socket.on('error', () => (it.ended = true)).on('close', () => (it.ended = true));
  socket.on('connect', () => request && socket.write(request));
  return it;
}

const asked = (path, encoding = 'identity') =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: ${encoding}\r\n\r\n`;

/** Seconds that an answer takes; none when there is none within ten. */
async function answer(port, localAddress = '127.0.2.1') {
  const start = performance.now();
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  socket.on('error', () => {}).on('connect', () => socket.write(asked('/healthz')));
  const heard = new Promise((done) => socket.once('data', (text) => done(String(text))));
  const first = await Promise.race([heard, sleep(10_000)]);
  socket.destroy();
  return first?.startsWith('HTTP/1.1 200') ? (performance.now() - start) / 1000 : undefined;
}

const said = (name, values) =>
  console.log(`${name.padEnd(44)} ${values.map((value) => String(value).padStart(10)).join(' ')}`);
const mib = (number) => `${number.toFixed(0)} MiB`;
const seconds = (number) => (number === undefined ? 'none' : `${number.toFixed(2)} s`);

said('', ['before', 'during', 'later', 'closed', 'another', 'log lines']);

await serving(async ({ port, memory, log }) => {
  await answer(port);
  const before = memory();
  const all = Array.from({ length: CONNECTIONS }, (_, number) => client(port, number));
  await sleep(4_000);
  const during = memory();
  const other = await answer(port);
  await sleep(22_000);
  const later = memory();
  const ended = all.filter(({ ended }) => ended).length;
  all.forEach(({ socket }) => socket.destroy());
  const figures = [mib(before), mib(during), mib(later), ended, seconds(other), log()];
  said(`${CONNECTIONS} idle connections`, figures);
  said('  each', ['', `${(((during - before) * 1024) / CONNECTIONS).toFixed(1)} KiB`]);
});

await serving(async ({ port, log }) => {
  const all = Array.from({ length: 200 }, (_, number) => client(port, number % EACH));
  await sleep(2_000);
  const other = await answer(port);
  const ended = all.filter(({ ended }) => ended).length;
  all.forEach(({ socket }) => socket.destroy());
  said('128 descriptors, 200 idle of one address', ['', '', '', ended, seconds(other), log()]);
}, 128);

/** Readers that ask for something and then take nothing of it. */
async function slow(name, { port, memory, log }, path, encoding) {
  const before = memory();
  const all = [];
  for (let number = 0; number < Number(readers); number += 1) {
    const one = client(port, number * 25, asked(path, encoding));
    one.socket.once('data', () => one.socket.pause());
    all.push(one);
  }
  let during = 0;
  for (let second = 0; second < 12; second += 1) {
    await sleep(1_000);
    during = Math.max(during, memory());
  }
  const other = await answer(port);
  await sleep((PATIENCE - 12) * 1_000);
  // Whoever was cut off hears it when they read on.
  const later = memory();
  all.forEach(({ socket }) => socket.destroy());
  await sleep(1_000);
  const sizes = [before, during, later, memory()].map(mib);
  said(`${readers} slow readers: ${name}`, [...sizes, seconds(other), log()]);
}

await serving(async (server) => {
  // 32 Mi counts of one token each: 128 MiB packed, some hundred KiB on disk.
  const row = `[${Array(32768).fill(1).join(',')}]`;
  const body = `{"tokens":[[${Array(1000).fill(row).join('],[')}]]}`;
  const url = `http://localhost:${server.port}`;
  const kept = await fetch(`${url}/api/v1/traces`, { method: 'POST', body });
  const { hash } = await kept.json();
  await slow('trace, identity', server, `/api/v1/traces/${hash}`);
  await slow('trace, br', server, `/api/v1/traces/${hash}`, 'br');
  const timeline = '/export/timeline.json?v=1&preset=llama-3-8b&training.global_batch_size=262144';
  await slow('timeline', server, timeline);
  await slow('timeline, br', server, timeline, 'br');
  await fetch(`${url}/api/v1/validation`);
  await slow('validation', server, '/api/v1/validation');
  await slow('validation, br', server, '/api/v1/validation', 'br');
});
