// A small process that starts programs for the tests (see start-small.ts). Started with a folder: it listens there for the
// streams of a program, three connections each. What to start comes as messages.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createServer } from "node:net";
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
  const { file, args, options, umask } = job;
  process.umask(umask);
  const child = spawn(file, args, { ...options, stdio });
  running.set(id, child);
  if (child.pid !== undefined) process.send({ id, pid: child.pid });
  child.on("error", (error) => process.send({ id, error: { ...error, message: error.message } }));
  child.on("exit", (code, signal) => process.send({ id, code, signal }));
  child.on("close", () => running.delete(id));
}

process.on("message", (message) => {
  if (message.kill !== undefined) running.get(message.id)?.kill(message.kill);
  else jobs.push(message) && startNext();
});
process.on("disconnect", () => process.exit());

closeSync(openSync(join(folder, "ready"), "w"));
