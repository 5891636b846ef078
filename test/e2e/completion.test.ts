// jpg completion: what a real bash and, where they are installed, a real zsh and fish complete.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { renderCompletion, SHELLS } from "../../src/cli/frame/completion.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A sandbox in which the word `jpg` is a command. */
async function prepare(): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox();
  closers.push(sandbox.remove);
  const folder = join(sandbox.root, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "jpg"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(join(folder, "jpg"), 0o755);
  sandbox.env["PATH"] = `${folder}:${sandbox.env["PATH"]}`;
  return sandbox;
}

/** What bash offers for the last word. */
function complete({ project, env }: ImportedSandbox, ...words: readonly string[]): readonly string[] {
  const script = `eval "$(jpg completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _jpg; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync("bash", ["-c", script, "bash", "jpg", ...words], { cwd: project, env, encoding: "utf8" });
  return out.split("\n").filter((line) => line !== "");
}

describe("jpg completion bash", () => {
  it("completes commands, options and conversations in a real bash", { tags: ["slow"] }, async () => {
    const sandbox = await prepare();
    const { conversation } = sandbox;
    expect(complete(sandbox, "comp")).toEqual(["compact", "completion"]);
    expect(complete(sandbox, "c", "compa")).toEqual(["compact"]);
    expect(complete(sandbox, "compact", "--prof")).toEqual(["--profile"]);
    expect(complete(sandbox, "--store", "x", "ls", "--arch")).toEqual(["--archived"]);
    expect(complete(sandbox, "show", "mea")).toEqual([conversation, `${conversation}/main`]);
    expect(complete(sandbox, "trust", "mea")).toEqual([]);
  });

  it("completes what follows an option", { tags: ["slow"] }, async () => {
    const sandbox = await prepare();
    for (const [words, offered] of VALUES) expect(complete(sandbox, ...words), words.join(" ")).toEqual(offered);
    // As bash splits `--strategy=trunc`.
    expect(complete(sandbox, "compact", "--strategy", "=", "trunc")).toEqual(["truncate-results"]);
    expect(complete(sandbox, "compact", "--strategy", "=")).toContain("auto");
    expect(complete(sandbox, "compact", "-s", "auto", "--ke")).toEqual(["--keep"]);
  });

  it("neither runs nor offers what the name of a branch says", async () => {
    const sandbox = await prepare();
    const { conversation } = sandbox;
    sandbox.git(["branch", "x$(>ran)/main"]);
    sandbox.git(["branch", "x`>ran`/main"]);
    expect(complete(sandbox, "show", "x")).toEqual([]);
    expect(complete(sandbox, "show", "")).toEqual([conversation, `${conversation}/main`]);
    expect(sandbox.git(["ls-files", "--others"], sandbox.project)).toBe("");
  });

  it("says which shells there are, and completes nothing where there is no store", async () => {
    const sandbox = await prepare();
    const { code, stderr } = await sandbox.jpg(["completion", "tcsh"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("bash, zsh, fish")]);
    expect(await sandbox.jpg(["completion-ids"], { cwd: sandbox.root })).toMatchObject({ code: 0, stderr: "" });
  });
});

/** What is offered behind options that take one of some words. */
const VALUES: readonly [words: readonly string[], offered: readonly string[]][] = [
  [
    ["compact", "-s", "strip-t"],
    ["strip-tool-results", "strip-tools"],
  ],
  [["compact", "--profile", "li"], ["light"]],
  [["resume", "--with", "clau"], ["claude-code"]],
  [["export", "--to", "markd"], ["markdown"]],
  [["--engine", "native", "compact", "-p", "he"], ["heavy"]],
];

const isMissing = (shell: string): boolean => spawnSync(shell, ["--version"]).status !== 0;

describe.skipIf(isMissing("fish"))("jpg completion fish (fish)", () => {
  /** What fish offers for the end of a line, without its descriptions. */
  function offers({ project, env }: ImportedSandbox, line: string): readonly string[] {
    const script = `jpg completion fish | source; complete -C ${JSON.stringify(line)}`;
    const out = execFileSync("fish", ["--no-config", "-c", script], { cwd: project, env, encoding: "utf8" });
    return out.split("\n").flatMap((row) => (row === "" ? [] : [row.split("\t")[0] ?? ""]));
  }

  it("completes commands, options and conversations in a real fish", { tags: ["slow"] }, async () => {
    const sandbox = await prepare();
    const { conversation } = sandbox;
    expect(offers(sandbox, "jpg comp")).toEqual(["compact", "completion"]);
    expect(offers(sandbox, "jpg compact --prof")).toEqual(["--profile"]);
    expect(offers(sandbox, "jpg show mea")).toEqual([conversation, `${conversation}/main`]);
    expect(offers(sandbox, "jpg trust mea")).toEqual([]);
    for (const [words, offered] of VALUES)
      expect(offers(sandbox, `jpg ${words.join(" ")}`).toSorted()).toEqual(offered);
  });
});

describe.skipIf(isMissing("zsh"))("jpg completion zsh (zsh)", () => {
  /** What the script's function offers, by stand-ins for zsh's own functions, which only draw. */
  function offers({ project, env }: ImportedSandbox, ...words: readonly string[]): readonly string[] {
    const script = `
      compdef() { : }
      _files() { : }
      _describe() { local list=\${@[-1]}; print -rl -- \${(P)list%%:*} }
      compadd() { print -rl -- \${(P)2} }
      eval "$(jpg completion zsh)"
      words=("$@"); CURRENT=$#; _jpg`;
    const out = execFileSync("zsh", ["-f", "-c", script, "zsh", "jpg", ...words], {
      cwd: project,
      env,
      encoding: "utf8",
    });
    const last = words.at(-1) ?? "";
    return out.split("\n").filter((row) => row !== "" && row.startsWith(last));
  }

  it("completes commands, options and conversations by a real zsh", { tags: ["slow"] }, async () => {
    const sandbox = await prepare();
    const { conversation } = sandbox;
    expect(offers(sandbox, "comp")).toEqual(["compact", "completion"]);
    expect(offers(sandbox, "c", "compa")).toEqual(["compact"]);
    expect(offers(sandbox, "compact", "--prof")).toEqual(["--profile"]);
    expect(offers(sandbox, "--store", "x", "ls", "--arch")).toEqual(["--archived"]);
    expect(offers(sandbox, "show", "mea")).toEqual([conversation, `${conversation}/main`]);
    expect(offers(sandbox, "trust", "mea")).toEqual([]);
    for (const [words, offered] of VALUES) expect(offers(sandbox, ...words)).toEqual(offered);
  });
});

describe("every script", () => {
  it.each(SHELLS)("of %s names every command and option", async (shell) => {
    const commands = await loadCommands();
    const script = renderCompletion(shell, commands);
    for (const { name, options = [] } of commands) {
      expect(script).toMatch(new RegExp(`\\b${name}\\b`));
      const listed = options.filter((option) => option.listed !== "never");
      for (const long of listed.flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? []))
        expect(script).toContain(shell === "fish" ? `-l ${long.slice(2)}` : long);
    }
    expect(script).not.toContain("undefined");
  });
});
