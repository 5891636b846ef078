import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CARE, renderAgentsHelp } from "../../src/cli/agents-help.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { asSession, createClaudeWriter, type Json, sessionBytes } from "../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const SESSION = "5e551073-0000-4000-8000-00000000000c";
const MOST_LINES = 300;

const commands = await loadCommands();
const help = renderAgentsHelp(commands);

/** The command lines below `## What people ask for`, in their order. */
const answers = [...section("What people ask for").matchAll(/^ {4}jpg (.*?) {2}/gm)].map(([, line]) => line ?? "");

function section(title: string): string {
  return help.split(/^## /m).find((text) => text.startsWith(title)) ?? "";
}

describe("jpg help --agents", () => {
  it("has every command with every option that help lists, in 300 lines at most", () => {
    expect(help.split("\n").length).toBeLessThanOrEqual(MOST_LINES);
    for (const { name, summary, arguments: args = [], options = [] } of commands) {
      const [, text = ""] = help.split(new RegExp(`^jpg ${name}(?=[ :])`, "m"));
      const own = text.split(/^(?:jpg |##)/m)[0] ?? "";
      expect(own, name).toContain(summary);
      for (const argument of args) expect(own, name).toContain(argument.name);
      for (const { flags, listed } of options)
        if (listed === "never") expect(own, name).not.toContain(`    ${flags}  `);
        else expect(own, name).toContain(flags);
    }
  });

  it("says of every command whether a model may run it, once", () => {
    const all = CARE.flatMap(({ commands: names }) => names);
    expect(all.toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
    const ask = CARE.find(({ heading }) => heading.includes("ask the user"));
    for (const name of ["rm", "purge", "push", "share", "hooks", "trust", "query"])
      expect(ask?.commands).toContain(name);
  });

  it("answers five requests, none of them with what needs the user's word first", () => {
    expect(section("What people ask for").match(/^".*":$/gm)).toHaveLength(5);
    const ask = CARE.find(({ heading }) => heading.includes("ask the user"))?.commands ?? [];
    for (const line of answers) {
      expect(ask).not.toContain(line.split(" ")[0]);
      expect(line).not.toMatch(/--(?:yes|force|exec|purge|fix|watch|model)\b/);
    }
  });
});

describe("what it says", () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = createSandbox();
    const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${SESSION}.jsonl`), sessionBytes(compactedSession(sandbox.project)));
  });
  afterEach(() => sandbox.remove());

  it("is printed", async () => {
    expect((await sandbox.jpg(["help", "--agents"])).stdout).toBe(`${help}\n`);
  });

  it("answers each request by commands that do it, typed one after the other", { tags: ["slow"] }, async () => {
    expect(answers.length).toBeGreaterThan(14);
    let names: readonly string[] = [];
    for (const line of answers) {
      const words = line.split(/ (?=(?:[^']*'[^']*')*[^']*$)/).map((word) => word.replaceAll("'", ""));
      const { code, stderr } = await sandbox.jpg(words.map((word) => placed(word, names)));
      expect({ line, code, stderr: code === 0 ? "" : stderr }).toEqual({ line, code: 0, stderr: "" });
      names = await namesOf(sandbox);
    }
  });

  it("names fields that the documents have", { tags: ["slow"] }, async () => {
    const documents = [...section("What `--json` prints").matchAll(/^\* `jpg (\w+)`, an? (list|object): (.*)$/gm)];
    expect(documents.length).toBe(7);
    for (const [, command = "", kind, fields = ""] of documents) {
      const words = command === "search" ? [command, "kelp"] : [command];
      const document = await sandbox.json<Json | readonly Json[]>(words);
      expect(Array.isArray(document) ? "list" : "object", command).toBe(kind);
      const value = Array.isArray(document) ? document[0] : document;
      for (const field of fields.replaceAll(/ \(.*?\)/g, "").split(", ")) expect(value, command).toHaveProperty(field);
      if (command === "import") await sandbox.jpg(["undo"]);
    }
  });
});

/** Puts a name in the place of a placeholder. */
function placed(word: string, [conversation = "", compaction = "", event = ""]: readonly string[]): string {
  if (word === "X") return "kelp";
  return { ID: conversation, COMPACTION: compaction, EVENT: event, AGENT: "codex" }[word] ?? word;
}

/** The conversation, its newest live compaction (the last undone one, brought back, if there is none), and an event. */
async function namesOf(sandbox: Sandbox): Promise<readonly string[]> {
  const [row] = await sandbox.json<readonly { id: string }[]>(["ls"]);
  const live = async () =>
    (await sandbox.json<readonly { compaction: string; live?: boolean }[]>(["log"])).find((one) => one.live === true);
  if ((await live()) === undefined) await sandbox.jpg(["redo"]);
  const [found] = await sandbox.json<readonly { event: string }[]>(["search", "kelp"]);
  return [row?.id ?? "", (await live())?.compaction ?? "", found?.event ?? ""];
}

/** Nine turns with long results; the agent replaced the first ones by a summary. */
function compactedSession(cwd: string): Json[] {
  const writer = createClaudeWriter();
  for (let turn = 0; turn < 9; turn++) {
    if (turn === 3) writer.compact("Kelp was counted.");
    writer.prompt(`Count the kelp of pier ${turn}.`);
    writer.think("I look.", "I count.");
    writer.tools(4);
    writer.say(`Many. ${`All the kelp on pier ${turn} was counted twice. `.repeat(40)}`);
  }
  return asSession(writer.lines, SESSION).map((line) => ({ ...line, ...("cwd" in line && { cwd }) }));
}
