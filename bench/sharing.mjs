// What sharing costs beside git: a first push against `git push` of the same objects, the scan of what leaves, and a pull that
// brings nothing against `git fetch`. All over a folder, where the line costs nothing and jpg's own part shows most.
import { createHash } from "node:crypto";
import { interleave, median } from "./measure.mjs";
import { createRow, formatNumber, ms, ratio } from "./row.mjs";
import { makeSmallConversations, TURNS } from "./small-conversations.mjs";

/** Measures push, scan and pull of many conversations. */
export async function benchSharing(sandbox, { rounds, conversations, lines, longLines }) {
  const resultOf = (id, turn) => linesOf(id, turn, lines);
  const store = await makeSmallConversations(sandbox, conversations, { resultOf });
  const jpg = (args) => sandbox.jpg([...args, "--store", store, "--quiet"]);
  const git = (args) => sandbox.run("git", ["-C", store, "-c", "core.hooksPath=/dev/null", ...args]);
  const bytes = conversations * TURNS * Buffer.byteLength(resultOf("", 0));
  const remote = async (name) => {
    const folder = sandbox.newPath(name);
    await sandbox.run("git", ["init", "--quiet", "--bare", folder]);
    await jpg(["remote", "add", name, folder, "--as", "branches"]);
  };
  await remote("looked-at");
  const look = async () => (await jpg(["push", "--all", "--to", "looked-at", "--dry-run"])).ms;
  const first = await look();
  const known = median([await look(), await look(), await look()]);

  // What was scanned is known to be clean from here on: the scan is in neither side of the ratio. Each push is a first one.
  let made = 0;
  const timed = (push) => async () => {
    const name = `remote-${++made}`;
    await remote(name);
    const { ms } = await push(name);
    await git(["remote", "remove", name]);
    return ms;
  };
  const pushes = await interleave(rounds, {
    jpg: timed((name) => jpg(["push", "--all", "--to", name])),
    git: timed((name) => git(["push", "--quiet", name, "refs/heads/*:refs/heads/*"])),
  });

  await remote("kept");
  await jpg(["push", "--all", "--to", "kept"]);
  const reads = await interleave(rounds, {
    jpg: () => jpg(["pull", "--from", "kept"]),
    git: () => git(["fetch", "--quiet", "kept"]),
  });
  const redact = await benchRedact(sandbox, { rounds, longLines });
  const of = `${conversations} conversations, ${formatNumber(bytes / 1e6)} MB`;
  return [
    createRow("push", `jpg push of ${of}, scanned before ÷ git push`, {
      ...ratio(pushes.jpg, pushes.git),
      limit: { atMost: 1.2 },
    }),
    createRow("push-scan", "scan for secrets of what leaves", {
      value: bytes / 1e3 / (first - known),
      unit: "MB/s",
      limit: { atLeast: 25 },
      detail: `${formatNumber(bytes / 1e6)} MB in ${ms(first)} − ${ms(known)}`,
    }),
    createRow("pull-nothing", `jpg pull with nothing new − git fetch, of ${conversations} branches`, {
      value: reads.jpg.median - reads.git.median,
      unit: "ms",
      limit: { atMost: 150 },
      detail: `${ms(reads.jpg.median)} − ${ms(reads.git.median)}`,
    }),
    redact,
  ];
}

/** In two halves, so that no scanner takes this file for a leak. */
const TOKEN = `ghp_a1B2c3D4e5F6g7H8i9${"J0k1L2m3N4o5P6q7R8"}`;

/** A conversation with a secret in each turn, which was looked at before, as by the push that refused it. */
async function benchRedact(sandbox, { rounds, longLines }) {
  const said = (id, turn) => `${linesOf(id, turn, longLines)}\n${TOKEN}\n`;
  const store = await makeSmallConversations(sandbox, 1, { resultOf: said });
  const bytes = TURNS * Buffer.byteLength(said("", 0));
  const redact = () => sandbox.jpg(["redact", "made-00000", "--store", store, "--quiet"]);
  const { jpg } = await interleave(rounds, { jpg: async () => (await redact()).ms });
  return createRow("redact", `jpg redact of ${formatNumber(bytes / 1e6)} MB`, {
    value: bytes / 1e3 / jpg.median,
    unit: "MB/s",
    limit: { atLeast: 10 },
    detail: ms(jpg.median),
  });
}

/** Lines as a program prints them, each different: they pack to about a fifth. */
function linesOf(id, turn, count) {
  return Array.from({ length: count }, (_, line) => {
    const hash = createHash("md5").update(`${id} ${turn} ${line}`).digest();
    return `src/part-${hash[0]}/file-${hash[1]}.ts:${line}: function read${hash[2]} is called by write${hash[3]} ${hash[4]} times\n`;
  }).join("");
}
