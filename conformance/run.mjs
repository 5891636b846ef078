// node run.mjs [--agent NAME[/CASE]] PROGRAM [ARG…]: for each case runs PROGRAM ARG… FILE, which prints messages as JSON, and compares
// them with what the agent sent (README.md). SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstDifference } from "./compare.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Lists the cases (of an agent, or one): what `case.json` says, with `id`, `folder`, and the paths of session and record. */
export function listCases(only) {
  const cases = foldersIn(HERE).flatMap((agent) => foldersIn(join(HERE, agent)).map((name) => readCase(agent, name)));
  return cases.filter(({ id, agent }) => only === undefined || agent === only || id === only);
}

function foldersIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

function readCase(agent, name) {
  const folder = join(HERE, agent, name);
  const about = JSON.parse(readFileSync(join(folder, "case.json"), "utf8"));
  const session = readdirSync(folder).find((file) => file.startsWith("session."));
  const path =
    about.file === undefined ? join(folder, session ?? "session.jsonl") : join(folder, "session", about.file);
  return { ...about, id: `${agent}/${name}`, folder, path, record: join(folder, "sent.json") };
}

function runCase({ agent, model = "", path, record, thinking }, [program, ...args]) {
  if (!existsSync(record)) return "it has no sent.json";
  const env = { ...process.env, CONFORMANCE_AGENT: agent, CONFORMANCE_MODEL: model };
  const options = { env, encoding: "utf8", timeout: 60_000, maxBuffer: 1 << 28 };
  const { status, stdout, stderr, error } = spawnSync(program, [...args, path], options);
  if (status !== 0) return `the program failed: ${error?.message ?? stderr.trim().split("\n").at(-1)}`;
  try {
    return firstDifference(JSON.parse(stdout), JSON.parse(readFileSync(record, "utf8")), { thinking });
  } catch (problem) {
    return `the program printed no messages: ${problem.message}`;
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const isNamed = process.argv[2] === "--agent";
  const command = process.argv.slice(isNamed ? 4 : 2);
  if (command.length === 0) throw new Error("Name a program: node run.mjs [--agent NAME] PROGRAM [ARG…].");
  const cases = listCases(isNamed ? process.argv[3] : undefined);
  const differing = cases.filter((each) => {
    const difference = runCase(each, command);
    console.log(difference === null ? `ok    ${each.id}` : `FAULT ${each.id}: ${difference}`);
    return difference !== null;
  });
  console.log(`${cases.length - differing.length} equal, ${differing.length} differ`);
  process.exitCode = cases.length === 0 || differing.length > 0 ? 1 : 0;
}
