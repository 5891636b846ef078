// What a first push of many conversations costs beside `git push` of the same objects, over a folder, where the line costs nothing and
// jpg's own part shows most.
import { createHash } from "node:crypto";
import { interleave } from "./measure.mjs";
import { createRow, formatNumber, ratio } from "./row.mjs";
import { makeSmallConversations, TURNS } from "./small-conversations.mjs";

/** Measures pushes of what was looked into for secrets before, and the first, which looks. */
export async function benchPush(sandbox, { rounds, conversations, lines }) {
  const resultOf = (id, turn) => linesOf(id, turn, lines);
  const store = await makeSmallConversations(sandbox, conversations, { resultOf });
  const jpg = (args) => sandbox.jpg([...args, "--store", store, "--quiet"]);
  const git = (args) => sandbox.run("git", ["-C", store, "-c", "core.hooksPath=/dev/null", ...args]);
  let made = 0;
  const timed = (push) => async () => {
    const name = `remote-${++made}`;
    const folder = sandbox.newPath(name);
    await sandbox.run("git", ["init", "--quiet", "--bare", folder]);
    await jpg(["remote", "add", name, folder, "--as", "branches"]);
    const { ms } = await push(name);
    await git(["remote", "remove", name]);
    return ms;
  };
  const pushAll = timed((name) => jpg(["push", "--all", "--to", name]));
  const first = await pushAll();
  const times = await interleave(rounds, {
    jpg: pushAll,
    git: timed((name) => git(["push", "--quiet", name, "refs/heads/*:refs/heads/*"])),
  });
  const bytes = conversations * TURNS * Buffer.byteLength(resultOf("", 0));
  return [
    createRow("push", `jpg push of ${conversations} conversations, ${formatNumber(bytes / 1e6)} MB ÷ git push`, {
      ...ratio(times.jpg, times.git),
    }),
    createRow("push-first", "the same, looked into for secrets for the first time ÷ git push", {
      value: first / times.git.median,
    }),
  ];
}

/** Lines as a program prints them, each different: they pack to about a fifth. */
function linesOf(id, turn, count) {
  return Array.from({ length: count }, (_, line) => {
    const hash = createHash("md5").update(`${id} ${turn} ${line}`).digest();
    return `src/part-${hash[0]}/file-${hash[1]}.ts:${line}: function read${hash[2]} is called by write${hash[3]} ${hash[4]} times\n`;
  }).join("");
}
