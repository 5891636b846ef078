// The public conformance set (conformance/README.md): jpg shows of each session what its agent sent, and its runner says so of any
// program.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { firstDifference } from "../../conformance/compare.mjs";
// @ts-expect-error: a script without types
import { listCases } from "../../conformance/run.mjs";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { AGENTS } from "../../src/formats/agents.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import { compactionsInForce } from "../../src/formats/imported-session.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { createSandbox } from "../helpers/run-jpg.ts";
import { KNOWN_DIFFERENCES } from "./conformance-differences.ts";

interface Case {
  readonly id: string;
  readonly agent: string;
  readonly rule: string;
  readonly seen: string;
  readonly version: string;
  readonly model?: string;
  readonly thinking?: boolean;
  readonly file?: string;
  readonly folder: string;
  readonly path: string;
  readonly record: string;
}

interface Message {
  readonly role: string;
  readonly content: readonly { readonly text?: string }[];
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const cases = listCases() as readonly Case[];

/** What jpg puts in where the API wants a message. */
const OWN = new Set<unknown>(["[Earlier messages are not shown.]", "[No new message.]"]);

/** Reads a single file as jpg does; several through the command. */
async function messagesOf({ agent, path, model, file }: Case): Promise<readonly Message[]> {
  if (file !== undefined) return importedMessages(path, model);
  const session = AGENTS.find(({ name }) => name === agent)!.read(createBufferSource(readFileSync(path)));
  const turns = Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
  return exportAnthropic(projectTurns(turns, compactionsInForce(session)), { model }).messages as readonly Message[];
}

async function importedMessages(path: string, model: string | undefined): Promise<readonly Message[]> {
  const sandbox = createSandbox();
  const imported = await sandbox.jpg(["import", path, "--json"]);
  const [{ id }] = JSON.parse(imported.stdout) as [{ readonly id: string }];
  const options = model === undefined ? [] : ["--model", model];
  const { stdout } = await sandbox.jpg(["export", id, "--to", "anthropic", "--messages", ...options]);
  return (JSON.parse(stdout) as { readonly messages: readonly Message[] }).messages;
}

function withoutOwn(messages: readonly Message[]): readonly Message[] {
  return messages.map(({ role, content }) => ({ role, content: content.filter(({ text }) => !OWN.has(text)) }));
}

describe("the conformance set", () => {
  it.each(cases)("jpg shows what was sent: $id", async (each) => {
    const sent = JSON.parse(readFileSync(each.record, "utf8")) as unknown;
    const difference = firstDifference(withoutOwn(await messagesOf(each)), sent, each) as string | null;
    const known = KNOWN_DIFFERENCES[each.id];
    expect([each.id, difference === null ? "equal" : difference]).toEqual([
      each.id,
      known === undefined ? "equal" : expect.stringMatching(/^block /),
    ]);
  });

  it("says of each case what it shows, and where that was seen", () => {
    for (const { id, rule, seen, agent, version, folder } of cases) {
      expect([id, rule]).toEqual([id, expect.stringMatching(/^\S.*\.$/)]);
      expect([id, seen]).toEqual([id, expect.stringMatching(/^(?:run|file|documented)$/)]);
      expect([id, version]).toEqual([id, expect.stringMatching(/^\d/)]);
      expect(dirname(folder).endsWith(agent)).toBe(true);
    }
  });

  it("names no known difference of a case that is not there", () => {
    const ids = new Set(cases.map(({ id }) => id));
    expect(Object.keys(KNOWN_DIFFERENCES).filter((id) => !ids.has(id))).toEqual([]);
  });

  it("is run with any program: jpg, and one that prints nothing", { tags: ["slow"] }, () => {
    const run = (only: string, ...program: readonly string[]) => {
      const args = [join(root, "conformance/run.mjs"), "--agent", only, ...program];
      const env = { ...process.env, JPG: `${process.execPath} ${join(root, "bin/jpg.js")}` };
      return spawnSync(process.execPath, args, { encoding: "utf8", env });
    };
    const jpg = [process.execPath, join(root, "conformance/jpg.mjs")];
    expect(run("pi/text", ...jpg)).toMatchObject({ status: 0, stdout: "ok    pi/text\n1 equal, 0 differ\n" });
    const several = "codex/fork-by-reference";
    expect(run(several, ...jpg)).toMatchObject({ status: 0, stdout: `ok    ${several}\n1 equal, 0 differ\n` });
    const nothing = run("pi", "true");
    expect(nothing.stdout).toContain("FAULT pi/text: the program printed no messages: Unexpected end of JSON input");
    expect(nothing.stdout).toMatch(/\n0 equal, \d+ differ\n$/);
    expect(nothing.status).toBe(1);
  });
});

describe("the record of the conformance set", () => {
  const title = "real agent: sends what is recorded (needs JPG_AGENTS_DIR)";
  it.skipIf(agentsFolder === undefined)(title, { tags: ["slow"], timeout: 3_600_000 }, () => {
    const script = join(root, "scripts/record-conformance.mjs");
    const { status, stdout } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
    expect(stdout.split("\n").filter((line) => line.startsWith("FAULT"))).toEqual([]);
    expect(status).toBe(0);
  });
});
