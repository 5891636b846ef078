// `jpg use` killed with -9 while git is writing: the next command puts the files right and says so, whatever it is.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

const JPG = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let box: ImportedSandbox;
let compacted: string;
let plain: string;
beforeEach(async () => {
  box = await copyImportedSandbox();
  compacted = box.git(["symbolic-ref", "--short", "HEAD"]);
  plain = compacted.replace(/[^/]+$/, "plain");
  await box.jpg(["fork", "@", "plain", "--no-activate"]);
  await box.jpg(["compact", "--keep", "0"]);
});
afterEach(() => box.remove());

/** Runs \`jpg use\` with a git that does something in place of a command, and then kills jpg. */
function killInside(branch: string, command: string, script: string): void {
  const bin = join(box.root, "bin");
  mkdirSync(bin);
  const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
  const text = `#!/bin/sh\ncase " $* " in *" ${command} "*) ${script}; kill -9 $PPID; exit 1;; esac\nexec '${real}' "$@"\n`;
  writeFileSync(join(bin, "git"), text.replaceAll("GIT ", `'${real}' `));
  chmodSync(join(bin, "git"), 0o755);
  const env = { ...box.env, PATH: `${bin}:${box.env["PATH"]}` };
  const { signal } = spawnSync(process.execPath, [JPG, "use", branch], { cwd: box.project, env });
  expect(signal).toBe("SIGKILL");
  rmSync(bin, { recursive: true });
}

it("among the files", async () => {
  // As git does: away with the old file first.
  killInside(plain, "switch", "rm -r compactions");
  expect(box.git(["status", "--short"])).toMatch(/^ D compactions/);
  const { stderr, code } = await box.jpg(["ls"]);
  expect([code, stderr]).toEqual([
    0,
    `\`jpg use ${plain}\` was interrupted: ${box.store} has the files of ${compacted} again.\n`,
  ]);
  expect(box.git(["status", "--short"])).toBe("");
  expect(await box.jpg(["use", plain])).toMatchObject({ code: 0, stderr: expect.not.stringContaining("midway") });
  expect([box.git(["symbolic-ref", "--short", "HEAD"]), box.git(["status", "--short"])]).toEqual([plain, ""]);
});

it("with git's lock left behind: it is waited for no longer than a git may be about that nobody sees", async () => {
  const lock = join(box.store, ".git", "index.lock");
  killInside(plain, "switch", `: > ${lock}`);
  expect(existsSync(lock)).toBe(true);
  const threeSecondsAgo = Date.now() / 1000 - 3;
  utimesSync(lock, threeSecondsAgo, threeSecondsAgo);
  expect(await box.jpg(["ls"])).toMatchObject({ code: 0 });
  expect(existsSync(lock)).toBe(false);
  expect(await box.jpg(["use", plain])).toMatchObject({ code: 0 });
});

it("before HEAD has gone over", async () => {
  killInside(plain, "switch", `GIT read-tree -m -u HEAD ${plain}`);
  expect(box.git(["status", "--short"])).not.toBe("");
  expect(await box.jpg(["use", plain])).toMatchObject({ code: 0 });
  expect([box.git(["symbolic-ref", "--short", "HEAD"]), box.git(["status", "--short"])]).toEqual([plain, ""]);
});

it("before the view was written: who reads the conversation has it", async () => {
  killInside(plain, "switch", `GIT -c core.hooksPath=/dev/null switch --quiet ${plain}`);
  const view = (): string => readFileSync(join(box.store, "VIEW.md"), "utf8");
  expect(view()).toContain(`\`${compacted}\``);
  expect(await box.jpg(["log"])).toMatchObject({ code: 0 });
  expect(view()).toContain(`\`${plain}\``);
});
