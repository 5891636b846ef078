// What a person sees of a long transfer: a progress line, which is gone at its end.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitHttpServer, startGitHttpServer } from "../helpers/git-http-server.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { openPane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: ImportedSandbox;
let server: GitHttpServer;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  const folder = join(sandbox.root, "served");
  mkdirSync(folder);
  const bare = join(folder, "talks.git");
  sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
  sandbox.git(["config", "http.receivepack", "true"], bare);
  server = await startGitHttpServer(folder);
  await sandbox.jpg(["remote", "add", "team", `${server.url}/talks.git`, "--as", "hidden"]);
  await sandbox.jpg(["push"]);
});
afterEach(async () => {
  await server.close();
  sandbox.remove();
});

describe.skipIf(tmuxMissing !== null)("a slow transfer in a terminal (tmux)", () => {
  it.each([80, 40])("is a progress line, %i columns wide, and gone at the end", { tags: ["slow"] }, async (columns) => {
    server.state.fault = "slow";
    const words = [process.execPath, BIN, "clone", `${server.url}/talks.git`, "t"];
    const env = { ...sandbox.env, NO_COLOR: "1" };
    const pane = openPane(words, { cwd: sandbox.root, env, columns });
    try {
      const during = await pane.shows(/objects: +\d+%/);
      expect(during.match(/objects:/g)).toHaveLength(1);
      server.state.fault = "none";
      const after = await pane.shows("left with 0");
      expect(after).toMatch(/^Cloned 1 conversation/m);
      expect(after).not.toContain("objects:");
    } finally {
      pane.close();
    }
  });
});
