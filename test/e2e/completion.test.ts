// jpg completion: what a real bash and, where they are installed, a real zsh and fish complete.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { CommandSpec } from "../../src/cli/frame/command.ts";
import { renderCompletion, SHELLS } from "../../src/cli/frame/completion.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

const GIT_BIN = fileURLToPath(new URL("../../bin/git-jpg.js", import.meta.url));
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
  for (const [name, program] of [
    ["jpg", BIN],
    ["git-jpg", GIT_BIN],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  // A format plug-in, which nobody trusted, and two files that are none.
  for (const [name, mode] of [
    ["tidelog", 0o755],
    ["notes.txt", 0o755],
    ["readme", 0o644],
  ] as const)
    writeFileSync(join(folder, `jpg-format-${name}`), "#!/bin/sh\nexit 1\n", { mode });
  sandbox.env["PATH"] = `${folder}:${sandbox.env["PATH"]}`;
  return sandbox;
}

/** The id that `jpg ls` prints. */
async function shortIdOf(sandbox: ImportedSandbox): Promise<string> {
  return /\*(\S+)/.exec((await sandbox.jpg(["ls"])).stdout)?.[1] ?? "";
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
    const short = await shortIdOf(sandbox);
    expect(complete(sandbox, "show", "")).toEqual([conversation, `${conversation}/main`, short]);
    expect(complete(sandbox, "show", short.slice(0, 2))).toEqual([short]);
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
    expect(complete(sandbox, "show", "")).toEqual([conversation, `${conversation}/main`, await shortIdOf(sandbox)]);
    expect(sandbox.git(["ls-files", "--others"], sandbox.project)).toBe("");
  });

  it("offers agents of plug-ins that `jpg ls --agent` takes", async () => {
    const sandbox = await prepare();
    const { code, stderr } = await sandbox.jpg(["ls", "--agent", "tidelog"]);
    expect([code, stderr]).toEqual([0, "No conversation here is of tidelog.\n"]);
    expect(await sandbox.jpg(["ls", "--agent", "readm"])).toMatchObject({ code: 2 });
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
  [["ls", "--agent", "tid"], ["tidelog"]],
  [["ls", "--agent", "clau"], ["claude-code"]],
  [["export", "--to", "tid"], ["tidelog"]],
  [["import", "tid"], ["tidelog"]],
  [
    ["import", "co"],
    ["codex", "copilot-cli"],
  ],
  [["trust", "--format", ""], ["tidelog"]],
  [["check", "--format-plugin", "t"], ["tidelog"]],
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
    const short = await shortIdOf(sandbox);
    expect(offers(sandbox, "jpg show ").filter((word) => word === short)).toEqual([short]);
    expect(offers(sandbox, `jpg show ${short.slice(0, 2)}`)).toEqual([short]);
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
    const short = await shortIdOf(sandbox);
    expect(offers(sandbox, "show", "")).toContain(short);
    expect(offers(sandbox, "show", short.slice(0, 2))).toEqual([short]);
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

describe("jpg completion powershell", () => {
  it("is a script that names commands, options, what follows them, and conversations", () => {
    const commands: CommandSpec[] = [
      {
        name: "show",
        summary: "show one",
        arguments: [{ name: "[id]", description: "which" }],
        options: [
          { flags: "-w, --with <agent>", description: "with", choices: ["pi", "codex"] },
          { flags: "-p, --profile <name>", description: "profile", asks: "profiles" },
          { flags: "--agent <name>", description: "agent", values: ["pi"], asks: "plugins" },
        ],
        run: () => Promise.resolve(0),
      },
      { name: "git", summary: "git", passThrough: true, run: () => Promise.resolve(0) },
    ];
    expect(renderCompletion("powershell", commands)).toMatchInlineSnapshot(`
      "# powershell completion of jpg: jpg completion powershell | Out-String | Invoke-Expression
      Register-ArgumentCompleter -Native -CommandName jpg -ScriptBlock {
        param($word, $ast, $cursor)
        $options = [ordered]@{
          'show' = @('-w', '--with', '-p', '--profile', '--agent', '--json', '--store', '--engine', '-c', '--cfg', '-q', '--quiet', '-v', '--verbose')
          'git' = @()
        }
        $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | Select-Object -Skip 1 | ForEach-Object { "$_" })
        $command = ''
        for ($i = 0; $i -lt $before.Count; $i++) {
          if (@('--store', '--engine', '-c', '--cfg') -ccontains $before[$i]) { $i++ }
          elseif (@('conversation', 'c') -cnotcontains $before[$i] -and -not $before[$i].StartsWith('-')) { $command = $before[$i]; break }
        }
        $values = switch -CaseSensitive ("$command $(if ($before.Count) { $before[-1] })") {
          'show -w' { @('pi', 'codex') }
          'show --with' { @('pi', 'codex') }
          'show -p' { @(jpg completion-ids profiles 2>$null) }
          'show --profile' { @(jpg completion-ids profiles 2>$null) }
          'show --agent' { @('pi') + @(jpg completion-ids plugins 2>$null) }
          'show --engine' { @('native', 'embedded') }
        }
        $found = if ($values) { $values }
          elseif (-not $command) { $options.Keys }
          elseif ($word.StartsWith('-')) { $options[$command] }
          else { switch -CaseSensitive ($command) {
            'show' { @(jpg completion-ids ids 2>$null) }
          } }
        $found | Where-Object { $_.StartsWith($word) } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
      }
      "
    `);
  });
});

/** Where the scripts of each shell go in the sandboxes here. */
const PLACES = {
  bash: [".local/share/bash-completion/completions/jpg", ".local/share/bash-completion/completions/git-jpg"],
  zsh: [".local/share/zsh/site-functions/_jpg", ".local/share/zsh/site-functions/_git-jpg"],
  fish: [".config/fish/completions/jpg.fish", ".config/fish/completions/git-jpg.fish"],
} as const;

describe("jpg completion --install", () => {
  it.each(["bash", "zsh", "fish"] as const)("writes the files of %s, says so, and removes them", async (shell) => {
    const sandbox = await prepare();
    sandbox.env["SHELL"] = `/usr/local/bin/${shell}`;
    const paths = PLACES[shell].map((path) => join(sandbox.home, path));
    const { run } = createTerminalSession(sandbox);
    const said = await run("jpg completion --install");
    for (const path of paths) expect(existsSync(path)).toBe(true);
    expect(said.replaceAll("<root>/home", "HOME").split("\n").slice(1).join("\n")).toBe(SAID[shell]);
    expect(await sandbox.json(["completion", "--install"])).toEqual({
      shell,
      files: paths.map((path) => ({ path, status: "unchanged" })),
    });
    writeFileSync(paths[0]!, `${readFileSync(paths[0]!, "utf8")}# an older one\n`);
    expect((await sandbox.jpg(["completion", "--install", shell])).stdout).toContain(`Updated ${paths[0]}`);
    expect((await sandbox.jpg(["completion", "--uninstall", shell])).stdout).toBe(
      paths.map((path) => `Removed ${path}\n`).join(""),
    );
    for (const path of paths) expect(existsSync(path)).toBe(false);
    expect((await sandbox.jpg(["completion", "--uninstall"])).stdout).toContain(`Not there: ${paths[0]}`);
  });

  it("says the line for PowerShell, and writes nothing", async () => {
    const sandbox = await prepare();
    const before = readdirSync(sandbox.home, { recursive: true });
    for (const word of ["powershell", "pwsh"]) {
      const { stdout } = await sandbox.jpg(["completion", "--install", word]);
      expect(stdout).toContain("\n  jpg completion powershell | Out-String | Invoke-Expression\n");
    }
    expect((await sandbox.jpg(["completion", "--uninstall", "pwsh"])).stdout).toContain("Remove this line");
    expect(readdirSync(sandbox.home, { recursive: true })).toEqual(before);
  });

  it.each([0, 1])("neither overwrites nor removes a file that is not jpg's own (%i)", async (which) => {
    const sandbox = await prepare();
    const paths = PLACES.bash.map((path) => join(sandbox.home, path));
    mkdirSync(dirname(paths[which]!), { recursive: true });
    for (const text of ["", "complete -W x jpg\n", "# fish completion of jpg\n", "x\n# bash completion of jpg\n"]) {
      writeFileSync(paths[which]!, text);
      for (const how of ["--install", "--uninstall"]) {
        const { code, stderr } = await sandbox.jpg(["completion", how, "bash"]);
        expect([code, stderr]).toEqual([2, expect.stringContaining(`${paths[which]} is not jpg's own file`)]);
      }
      expect(readFileSync(paths[which]!, "utf8")).toBe(text);
      expect(existsSync(paths[1 - which]!)).toBe(false);
    }
  });

  it("follows the variables that move a shell's folder, and asks for a shell where none is known", async () => {
    const sandbox = await prepare();
    const moved = join(sandbox.root, "moved");
    const pathOf = async (shell: string, env: Record<string, string>): Promise<string> => {
      Object.assign(sandbox.env, env);
      const { files } = await sandbox.json<{ files: { path: string }[] }>(["completion", "--install", shell]);
      return files[0]!.path;
    };
    expect(await pathOf("bash", { XDG_DATA_HOME: moved })).toBe(join(moved, "bash-completion/completions/jpg"));
    expect(await pathOf("zsh", {})).toBe(join(moved, "zsh/site-functions/_jpg"));
    expect(await pathOf("fish", { XDG_CONFIG_HOME: moved })).toBe(join(moved, "fish/completions/jpg.fish"));
    const own = join(sandbox.root, "own");
    expect(await pathOf("bash", { BASH_COMPLETION_USER_DIR: `${own}:/other` })).toBe(join(own, "completions/jpg"));
    for (const [SHELL, said] of [
      ["", "SHELL is not set"],
      ["/bin/tcsh", "no completion for tcsh"],
    ] as const) {
      const { code, stderr } = await sandbox.jpg(["completion", "--install"], { env: { SHELL } });
      expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
    }
  });
});

/** What installing says, with HOME in place of the home. */
const SAID = {
  bash: `Wrote HOME/${PLACES.bash[0]}
Wrote HOME/${PLACES.bash[1]}
It works in new shells if bash-completion is installed; in this one after:
  source HOME/${PLACES.bash[0]}
`,
  zsh: `Wrote HOME/${PLACES.zsh[0]}
Wrote HOME/${PLACES.zsh[1]}
It works in new shells once fpath has the folder. Add this line to ~/.zshrc,
before compinit (or a framework that calls it):
  fpath=(HOME/.local/share/zsh/site-functions $fpath)
`,
  fish: `Wrote HOME/${PLACES.fish[0]}
Wrote HOME/${PLACES.fish[1]}
It works in new shells, and in this one from the next Tab.
`,
} as const;

/** What a shell prints in the project after an install; the words are its arguments. */
async function afterInstall(
  shell: "bash" | "zsh" | "fish",
  script: string,
  words: readonly string[],
): Promise<string[]> {
  const sandbox = await prepare();
  await sandbox.jpg(["completion", "--install", shell]);
  const how = { bash: ["--norc", "-c", script, "bash"], zsh: ["-f", "-c", script, "zsh"], fish: ["-c", script] }[shell];
  const { stdout, stderr } = spawnSync(shell, [...how, ...words], {
    cwd: sandbox.project,
    env: sandbox.env,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

const BASH_COMPLETION = "/usr/share/bash-completion/bash_completion";

describe("installed completion", () => {
  it.skipIf(!existsSync(BASH_COMPLETION))(
    "is loaded by bash at the first Tab, for jpg and git jpg (bash-completion)",
    { tags: ["slow"] },
    async () => {
      // The first call of a command that has none loads its file; the second completes.
      const script = `. ${BASH_COMPLETION}
        tab() {
          COMP_LINE="$*" COMP_POINT=\${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
          local found; found=$(complete -p "$1" 2>/dev/null) || { _completion_loader "$1"; found=$(complete -p "$1"); }
          [[ $found =~ -F\\ ([^ ]+) ]]
          COMP_TYPE=9 "\${BASH_REMATCH[1]}" "$1" "\${@: -1}" "\${@: -2:1}"
          printf '%s\n' "\${COMPREPLY[@]}"
        }
        tab jpg comp; tab git jpg comp; tab git -C . jpg compact --prof`;
      const found = (await afterInstall("bash", script, [])).map((line) => line.trim());
      expect(found).toEqual(["compact", "completion", "compact", "completion", "--profile"]);
    },
  );

  it.skipIf(isMissing("zsh"))("is found by compinit, for jpg and git jpg (zsh)", { tags: ["slow"] }, async () => {
    const script = `
      fpath=($HOME/.local/share/zsh/site-functions $fpath)
      autoload -Uz compinit && compinit -u -D
      print -r -- $_comps[jpg] $+functions[_git-jpg]
      _files() { : }
      _describe() { local list=\${@[-1]}; local -a names=(\${(P)list%%:*}); print -rl -- \${(M)names:#comp*} }
      words=(jpg comp); CURRENT=2; _jpg; _jpg; _git-jpg`;
    const words = ["compact", "completion"];
    expect(await afterInstall("zsh", script, [])).toEqual(["_jpg 1", ...words, ...words, ...words]);
  });

  // fish 3.6 looks for `git git-jpg` in place of `git jpg`.
  it.skipIf(isMissing("fish"))("is found by fish, for jpg and git-jpg (fish)", { tags: ["slow"] }, async () => {
    const found = await afterInstall("fish", `complete -C "jpg comp"; complete -C "git-jpg comp"`, []);
    const words = ["compact", "completion"];
    expect(found.map((line) => line.split("\t")[0])).toEqual([...words, ...words]);
  });
});
