// A store whose own git configuration names programs: none of them starts, whoever owns the store, and the user's own do.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { writeText } from "../helpers/temp-repository.ts";

let sandbox: Sandbox & { readonly conversation: string };
let marks: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox(6);
  marks = join(sandbox.root, "started");
  writeFileSync(marks, "");
  writeText(join(sandbox.store, ".git", "info", "attributes"), "* filter=evil diff=evil merge=evil\n");
});
afterEach(() => sandbox.remove());

/** A shell command that leaves a mark, and passes on what it reads. */
const marking = (name: string): string => `echo ${name} >> '${marks}'; cat`;

/** Names of what was started since the sandbox was made. */
const started = (): string[] => [...new Set(readFileSync(marks, "utf8").split("\n").filter(Boolean))];

function writeProgram(path: string, body: string): void {
  writeText(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

/** Commands that read, write, check out, move worktrees and start maintenance; gives the warnings of the first. */
async function workAround(): Promise<string> {
  const said: string[] = [];
  const commands = [
    ["log"],
    ["compact"],
    ["fork"],
    ["undo"],
    ["checkout", "@", join(sandbox.root, "linked")],
    ["title", "@", "Harbour"],
    ["use", sandbox.conversation],
    ["import", sandbox.session("more.jsonl", smallSession({ turns: 8 }))],
    ["init"],
  ];
  for (const words of commands) {
    const { code, stderr } = await sandbox.jpg(words);
    expect([words[0], code, code === 0 ? "" : stderr]).toEqual([words[0], 0, ""]);
    said.push(
      stderr
        .split("\n")
        .filter((line) => line.startsWith("warning:"))
        .join("\n"),
    );
  }
  return said[0] ?? "";
}

const ignoring = (keys: string): string =>
  `warning: jpg ignores what the store's own git configuration would start or reach: ${keys}. It follows your own (--global).`;

describe("programs in a store's own configuration", () => {
  it("are not started, and are named in one line", async () => {
    const keys = [
      "filter.evil.smudge",
      "filter.evil.clean",
      "diff.evil.textconv",
      "diff.external",
      "merge.evil.driver",
      "core.fsmonitor",
      "core.pager",
    ];
    for (const key of keys) sandbox.git(["config", key, marking(key)]);
    const hooks = join(sandbox.root, "hooks");
    for (const name of ["pre-auto-gc", "reference-transaction", "post-checkout", "post-index-change"]) {
      writeProgram(join(hooks, name), `echo ${name} >> '${marks}'`);
    }
    sandbox.git(["config", "core.hooksPath", hooks]);
    const said = await workAround();
    expect(started()).toEqual([]);
    expect(said).toMatch(/^warning: .*$/);
    for (const key of keys) expect(said).toContain(key);
  });

  it("are started in stock git, and so in `jpg git`, which says nothing of them", async () => {
    sandbox.git(["config", "filter.evil.smudge", marking("smudge")]);
    rmSync(join(sandbox.store, "conversation.json"));
    const { stderr } = await sandbox.jpg(["git", "checkout", "HEAD", "--", "conversation.json"]);
    expect([stderr.includes("warning"), started()]).toEqual([false, ["smudge"]]);
  });

  it("sign nothing; the user's own program does", async () => {
    writeProgram(join(sandbox.root, "evil"), `echo evil >> '${marks}'; exit 1`);
    writeProgram(join(sandbox.root, "mine"), `echo mine >> '${marks}'; exit 1`);
    sandbox.git(["config", "gpg.program", join(sandbox.root, "evil")]);
    sandbox.git(["config", "gpg.openpgp.program", join(sandbox.root, "evil")]);
    const config = join(sandbox.root, "gitconfig");
    const env = { GIT_CONFIG_GLOBAL: config };
    writeFileSync(config, `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${join(sandbox.root, "mine")}\n`);
    expect((await sandbox.jpg(["compact"], { env })).stderr).toContain("Git could not sign the commit");
    expect(started()).toEqual(["mine"]);
  });

  it("filter nothing; the user's own filter of that name does", async () => {
    sandbox.git(["config", "filter.evil.smudge", marking("evil")]);
    const config = join(sandbox.root, "gitconfig");
    writeFileSync(config, `[filter "evil"]\n\tsmudge = "${marking("mine")}"\n`);
    const { code } = await sandbox.jpg(["checkout", "@", join(sandbox.root, "linked")], {
      env: { GIT_CONFIG_GLOBAL: config },
    });
    expect([code, started()]).toEqual([0, ["mine"]]);
  });

  it.each([
    ["in a file that it includes", ["config", "include.path", "../../evil.config"]],
    ["in a file that it includes on a condition", ["config", "includeIf.gitdir:**.path", "../../evil.config"]],
  ])("are not started when they stand %s", async (_where, include) => {
    writeFileSync(join(sandbox.store, "..", "evil.config"), `[filter "evil"]\n\tsmudge = "${marking("smudge")}"\n`);
    sandbox.git(include);
    expect(await workAround()).toBe(ignoring("filter.evil.smudge"));
    expect(started()).toEqual([]);
  });

  it("are not started when they stand in the configuration of a worktree", async () => {
    const linked = join(sandbox.root, "linked");
    await sandbox.jpg(["checkout", "@", linked]);
    sandbox.git(["config", "extensions.worktreeConfig", "true"]);
    sandbox.git(["config", "--worktree", "filter.evil.smudge", marking("smudge")], linked);
    sandbox.git(["config", "--worktree", "filter.evil.clean", marking("clean")], linked);
    expect((await sandbox.jpg(["title", "@", "Pier"])).code).toBe(0);
    expect((await sandbox.jpg(["compact"], { cwd: linked })).code).toBe(0);
    expect(started()).toEqual([]);
  });

  it("are not started when a checkout writes the file that is included", async () => {
    const { store, conversation } = sandbox;
    const quiet = ["-c", "core.hooksPath=/dev/null", "-c", "user.name=Eve", "-c", "user.email=eve@example.com"];
    sandbox.git([...quiet, "switch", "-qc", "evil/main"]);
    writeText(join(store, "compactions", "evil.config"), `[filter "evil"]\n\tsmudge = "${marking("smudge")}"\n`);
    sandbox.git(["add", "--sparse", "compactions"]);
    sandbox.git([...quiet, "commit", "-qm", "evil"]);
    sandbox.git([...quiet, "switch", "-q", `${conversation}/main`]);
    sandbox.git(["config", "include.path", "../compactions/evil.config"]);
    sandbox.git([...quiet, "update-ref", "refs/heads/evil/fork", "evil/main"]);
    expect((await sandbox.jpg(["git", "switch", "-q", "evil/main"])).code).toBe(0);
    writeFileSync(marks, "");
    await sandbox.jpg(["checkout", "@", join(sandbox.root, "linked")]);
    await sandbox.jpg(["use", conversation]);
    expect(started()).toEqual([]);
  });
});

describe("other places in a store's own configuration", () => {
  it("do not become its worktree: nothing is written there", async () => {
    const elsewhere = join(sandbox.root, "elsewhere");
    mkdirSync(elsewhere);
    sandbox.git(["config", "core.worktree", elsewhere]);
    expect(await workAround()).toBe(ignoring("core.worktree"));
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(existsSync(join(sandbox.store, "conversation.json"))).toBe(true);
  });

  it("are not reached for objects that are missing, through a program", async () => {
    const { store, root } = sandbox;
    const clone = join(root, "clone");
    sandbox.git(["config", "uploadpack.allowFilter", "true"]);
    sandbox.git(["clone", "-q", "--no-checkout", "--filter=blob:none", `file://${store}`, clone], root);
    sandbox.git(["config", "remote.origin.url", `ext::sh -c 'echo ext >> ${marks}'`], clone);
    sandbox.git(["config", "protocol.ext.allow", "always"], clone);
    sandbox.git(["config", "jpg.format", "1"], clone);
    const { code, stderr } = await sandbox.jpg(["print"], { cwd: clone });
    expect([code, started()]).toEqual([3, []]);
    expect(stderr).toContain("protocol.ext.allow");
    sandbox.git(["config", "--unset", "protocol.ext.allow"], clone);
    sandbox.git(["config", "remote.origin.url", store], clone);
    // Nor without a program, before one has fetched from there.
    expect((await sandbox.jpg(["print"], { cwd: clone })).code).toBe(3);
    expect((await sandbox.jpg(["fetch"], { cwd: clone })).code).toBe(0);
    expect((await sandbox.jpg(["print"], { cwd: clone })).code).toBe(0);
  });
});
