// What a person sees of work that takes long: a progress line, which is gone at its end and never reaches a file.
// @module-tag slow
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { openPane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: ImportedSandbox;
let env: Record<string, string>;
let go: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  const bin = join(sandbox.root, "slow");
  go = join(sandbox.root, "go");
  mkdirSync(bin);
  const path = sandbox.env["PATH"] ?? "";
  // A git whose check of all objects ends when it may.
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh\ncase " $* " in *" fsck "*) until [ -e '${go}' ]; do sleep 0.05; done;; esac\nPATH='${path}' exec git "$@"\n`,
  );
  chmodSync(join(bin, "git"), 0o755);
  env = { ...sandbox.env, PATH: `${bin}:${path}`, NO_COLOR: "1" };
});
afterEach(() => sandbox.remove());

describe.skipIf(tmuxMissing !== null)("jpg fsck of a store that takes long, in a terminal (tmux)", () => {
  it("says what it does, on one line that is gone at the end", async () => {
    const pane = openPane([process.execPath, BIN, "fsck"], { cwd: sandbox.project, env, columns: 60 });
    try {
      await pane.shows(/^checking git's objects$/m);
      const later = await pane.shows(/^checking git's objects, for \d+ s so far$/m);
      expect(later.match(/checking/g)).toHaveLength(1);
      writeFileSync(go, "");
      const after = await pane.shows("left with 0");
      expect(after).not.toContain("checking");
      expect(after).toMatch(/^nothing wrong in /m);
    } finally {
      pane.close();
    }
  });
});

it("says nothing of it where standard error is no terminal", async () => {
  setTimeout(() => writeFileSync(go, ""), 2500);
  const { stdout, stderr, code } = await sandbox.jpg(["fsck"], { env, process: true });
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout).toMatch(/^nothing wrong in /);
});
