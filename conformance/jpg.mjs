// Prints what jpg shows of a session: node run.mjs node jpg.mjs. JPG names another command than `jpg`, words apart by spaces.
// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** What jpg puts in where the API wants a message: it is no part of a session. */
const OWN = new Set(["[Earlier messages are not shown.]", "[No new message.]"]);

const [program, ...words] = (process.env.JPG ?? "jpg").split(" ");
const home = mkdtempSync(join(tmpdir(), "conformance-"));
try {
  const env = { ...process.env, HOME: home, GIT_CONFIG_GLOBAL: "/dev/null" };
  const options = { cwd: home, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 28 };
  const jpg = (...args) => execFileSync(program, [...words, ...args], options);
  execFileSync("git", ["init", "--quiet"], options);
  const [{ id }] = JSON.parse(jpg("import", resolve(process.argv[2]), "--json"));
  const model = process.env.CONFORMANCE_MODEL ? ["--model", process.env.CONFORMANCE_MODEL] : [];
  const { messages } = JSON.parse(jpg("export", id, "--to", "anthropic", "--messages", ...model));
  const said = messages.map(({ role, content }) => ({ role, content: content.filter(({ text }) => !OWN.has(text)) }));
  console.log(JSON.stringify(said));
} finally {
  rmSync(home, { recursive: true, force: true });
}
