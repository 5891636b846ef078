// A small process that starts programs for the tests (see start-small.ts). Started with a folder: it listens there for the
// streams of a program, three connections each, and reads there what to run at once. What to start comes as messages.
import { spawn } from "node:child_process";
import { openSync, writeSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { join } from "node:path";

const folder = process.argv[2] ?? "";

/** What is to be started, and the connections that wait for it: the first belong to the first. */
const jobs = [];
const waiting = [[], [], []];

await Promise.all(
  waiting.map((sockets, n) => {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      startNext();
    });
    return new Promise((resolve) => server.listen(join(folder, `stream-${n}`), resolve));
  }),
);

function startNext() {
  while (jobs.length > 0) {
    const isReady = !jobs[0].hasStreams || waiting.every((sockets) => sockets.length > 0);
    if (!isReady) return;
    const job = jobs.shift();
    const sockets = job.hasStreams ? waiting.map((list) => list.shift()) : [];
    start(job, job.hasStreams ? sockets : "ignore");
    for (const socket of sockets) socket.destroy();
  }
}

const running = new Map();

function start({ id, ...job }, stdio) {
  const child = spawnHere(job, stdio);
  running.set(id, child);
  if (child.pid !== undefined) process.send({ id, pid: child.pid });
  child.on("error", (error) => process.send({ id, error: { ...error, message: error.message } }));
  child.on("exit", (code, signal) => process.send({ id, code, signal }));
  child.on("close", () => running.delete(id));
}

function spawnHere({ file, args, options, umask }, stdio) {
  process.umask(umask);
  return spawn(file, args, { ...options, stdio });
}

process.on("message", (message) => {
  if (message.kill !== undefined) running.get(message.id)?.kill(message.kill);
  else jobs.push(message) && startNext();
});
process.on("disconnect", () => process.exit());

/** Runs a program to its end and writes its answer: a line of JSON, then what it printed. */
function answer({ input, ...job }) {
  const child = spawnHere(job, "pipe");
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const chunks = [];
    stream?.on("data", (chunk) => chunks.push(chunk));
    return chunks;
  });
  let failure;
  child.on("error", (error) => {
    failure = { ...error, message: error.message };
    if (child.pid === undefined) reply({ status: null, signal: null, error: failure }, [], []);
  });
  child.on("close", (status, signal) => reply({ status, signal, error: failure }, stdout, stderr));
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(Buffer.from(input, "base64"));
}

const answers = openSync(join(folder, "answers"), "w");

function reply(result, stdout, stderr) {
  const [out, err] = [Buffer.concat(stdout), Buffer.concat(stderr)];
  const head = `${JSON.stringify({ ...result, out: out.length, err: err.length })}\n`;
  const bytes = Buffer.concat([Buffer.from(head), out, err]);
  for (let at = 0; at < bytes.length; ) at += writeSync(answers, bytes, at);
}

let unread = "";
const questions = new Socket({ fd: openSync(join(folder, "questions"), "r+"), writable: false });
questions.setEncoding("utf8").on("data", (text) => {
  const lines = (unread + text).split("\n");
  unread = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
