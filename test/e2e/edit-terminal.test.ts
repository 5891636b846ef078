// `jpg edit` in a real terminal: the editor comes back with what is wrong, and no work is lost.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: ImportedSandbox;
let pane: Pane | null;
let start: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox(6, { process: true });
  pane = null;
  start = tip();
});
afterEach(() => {
  pane?.close();
  sandbox.remove();
});

const tip = (): string => sandbox.git(["rev-parse", `${sandbox.conversation}/main`]);

/** Runs `jpg edit` at 80 columns with a shell script as the editor; `$1` is the plan, `$rounds` counts from 1. */
function edit(script: string, ...words: string[]): Pane {
  const [editor, count, seen] = ["editor", "count", "seen"].map((name) => join(sandbox.root, name));
  writeFileSync(
    editor ?? "",
    `#!/bin/sh\nrounds=$(($(cat '${count}' 2>/dev/null || echo 0) + 1)); echo $rounds > '${count}'\ncp "$1" '${seen}'.$rounds\n${script}\n`,
  );
  chmodSync(editor ?? "", 0o755);
  const env = { ...sandbox.env, VISUAL: `'${editor}'`, NO_COLOR: "1" } as Record<string, string>;
  pane = openPane([process.execPath, BIN, "edit", ...words], { cwd: sandbox.project, env, columns: 80 });
  return pane;
}

const seen = (round: number): string => readFileSync(join(sandbox.root, `seen.${round}`), "utf8");
const kept = (): string => readFileSync(join(sandbox.store, ".git", "jpg-edit-plan.txt"), "utf8");

describe.skipIf(tmuxMissing !== null)("jpg edit in a terminal (tmux)", () => {
  it("has the editor come back with wrong lines marked, and follows what it is then", async () => {
    const screen = await edit(`
      if [ $rounds = 1 ]; then sed -i 's/^keep 2/stirp 2/; /^keep 3/d' "$1"
      else sed -i 's/^stirp 2/omit 2/; s/^keep 4/keep 3\\nkeep 4/' "$1"; fi`).shows("left with 0");
    expect(screen).toMatch(/Compacted \S+ 2: turns omitted/);
    expect(
      seen(1)
        .split("\n")
        .every((line) => [...line].length <= 80),
    ).toBe(true);
    expect(seen(2)).toContain('# error: unknown verb "stirp": did you mean strip?\nstirp 2 ');
    expect(seen(2)).toMatch(/# error: 3 has no line: write `keep 3`.*\nkeep 4 /);
    expect(sandbox.git(["rev-list", "--count", `${start}..HEAD`])).toBe("1");
  });

  it("keeps a plan that is saved unchanged though it is wrong, and says how to go on", async () => {
    const screen = await edit(`printf 'frobnicate 0\\n' > "$1"`).shows("left with 2");
    expect(screen.replace(/\n/g, "")).toContain("Your plan is kept");
    expect(kept()).toContain("frobnicate 0");
    expect(tip()).toBe(start);
  });

  it.each([
    ["ends with an error", "exit 3", "exit code 3"],
    ["is killed", "kill -9 $$", "editor ended"],
  ])("keeps the plan when the editor %s", async (_, end, said) => {
    const screen = await edit(`sed -i 's/^keep 2/omit 2/' "$1"; ${end}`).shows("left with 2");
    expect(screen.replace(/\n/g, "")).toContain(said);
    expect(kept()).toMatch(/^omit 2 /m);
    expect(tip()).toBe(start);
  });

  it("does nothing where nothing was changed, or all was taken out", async () => {
    expect(await edit("true").shows("left with 0")).toContain("Nothing to do: the plan changes nothing.");
    pane?.close();
    expect(await edit(`: > "$1"`).shows("left with 0")).toContain("Nothing to do: the plan is empty.");
    expect(existsSync(join(sandbox.store, ".git", "jpg-edit-plan.txt"))).toBe(false);
    expect(tip()).toBe(start);
  });

  it("takes the editor of the user's git settings, not of the store's", async () => {
    const own = join(sandbox.root, "own.sh");
    writeFileSync(own, `#!/bin/sh\nsed -i 's/^keep 3/omit 3/' "$1"\n`);
    chmodSync(own, 0o755);
    const config = join(sandbox.root, "user.gitconfig");
    writeFileSync(config, `[core]\n\teditor = ${own}\n`);
    sandbox.git(["config", "core.editor", "false"]);
    const env = { ...sandbox.env, GIT_CONFIG_GLOBAL: config, VISUAL: "false" } as Record<string, string>;
    pane = openPane([process.execPath, BIN, "edit"], { cwd: sandbox.project, env });
    expect(await pane.shows("left with 0")).toMatch(/Compacted \S+ 3: turns omitted/);
  });

  it("brings the verbs over where the branch moved meanwhile", { tags: ["slow"] }, async () => {
    const jpg = `'${process.execPath}' '${BIN}'`;
    const screen = await edit(`
      if [ $rounds = 1 ]; then sed -i 's/^keep 2/omit 2/' "$1"; ${jpg} compact --from 4 --to 4 -s strip-tools > /dev/null; fi`).shows(
      "left with 0",
    );
    expect(seen(2)).toMatch(/# .* moved since the plan was made from \w+: 1 commit was added: compact 4\.\.4/);
    expect(seen(2)).toMatch(/^omit 2 /m);
    expect(screen).toMatch(/Compacted \S+ 2: turns omitted/);
    expect(sandbox.git(["rev-list", "--count", `${start}..HEAD`])).toBe("2");
  });
});
