// `jpg live` with an accident, in the folder that HELD_JPG names: its answer to a compaction is written to `answer.json` there, and
// passed on once the file `go` is there; with the file `kill` it is killed after as many milliseconds, and its answer never passed on.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const folder = process.env.HELD_JPG;
const input = readFileSync(0);
const isCompaction = JSON.parse(input.toString()).do === "compact";
const isKilled = isCompaction && existsSync(`${folder}/kill`);
const timeout = isKilled ? Number(readFileSync(`${folder}/kill`, "utf8")) : undefined;
const options = { input, maxBuffer: 64 * 1024 * 1024, timeout, killSignal: "SIGKILL" };
const { stdout } = spawnSync(process.execPath, process.argv.slice(2), options);
if (isCompaction) {
  writeFileSync(`${folder}/answer.tmp`, stdout);
  renameSync(`${folder}/answer.tmp`, `${folder}/answer.json`);
  while (!isKilled && !existsSync(`${folder}/go`)) await sleep(50);
}
if (!isKilled) process.stdout.write(stdout);
