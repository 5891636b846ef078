// The whole loop on real sessions with the real Codex: import, compact, export, let it go on, import its file. Nothing may be
// lost or stand twice on the way, also where Claude Code takes turns with it. Needs the agents (JPG_AGENTS_DIR) and the corpus
// (../shared or JPG_CORPUS).
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { corpusMissing, listGoldens, sharedFolder } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { codexMissing, continueInCodex } from "../helpers/real-codex.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const missing = corpusMissing ?? codexMissing;
const because = (reason: string | null): string => (reason === null ? "" : ` (SKIPPED: ${reason})`);
const REPLY = "MOCK-REPLY-OK";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

async function jpg(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await sandbox.jpg(args);
  if (code !== 0) throw new Error(`jpg ${args.join(" ")}: exit ${code}\n${stderr}${stdout}`);
  return stdout;
}

interface Report {
  readonly status: string;
  readonly branch: string;
  readonly turns: number;
}
const bringIn = async (file: string): Promise<Report> =>
  (JSON.parse(await jpg("import", file, "--json")) as Report[])[0]!;

/** Writes the active conversation as an agent's session, and gives the file with its id. */
async function exportTo(agent: "codex" | "claude-code"): Promise<{ readonly path: string; readonly session: string }> {
  const text = await jpg("export", "--to", agent);
  const side = text.split("\n", 2).find((line) => line.includes('"jpg-origin"')) ?? "{}";
  const { sessionId: session } = JSON.parse(side) as { sessionId: string };
  return { path: sandbox.session(`${session}.jsonl`, text), session };
}

/** What Codex would be sent of the active conversation, as far as it says so itself: its own words are left out. */
async function view(): Promise<readonly SentMessage[]> {
  const lines = (await jpg("export", "--to", "codex")).trimEnd().split("\n");
  const items = lines
    .map((line) => JSON.parse(line) as { readonly type: string; readonly payload: unknown })
    .filter(({ type }) => type === "response_item")
    .map(({ payload }) => payload);
  return sentHistory(items, { agent: "codex" });
}

const blocks = (messages: readonly SentMessage[]): readonly string[] =>
  messages.flatMap(({ role, blocks: all }) => all.map((block) => `${role} ${JSON.stringify(shortened(block))}`));

/** What Codex puts in the place of an image that it cannot read: masked ones stand in the corpus. */
const NO_IMAGE = "image content omitted because it could not be processed";

/** Codex cuts long outputs when it sends them, and passes its marks of turns on to its own provider only. */
function shortened(block: SentBlock): unknown {
  return JSON.parse(
    JSON.stringify(block, (key, value: unknown) => {
      if (key === "internal_chat_message_metadata_passthrough") return undefined;
      if (isImage(value)) return { type: "text", text: NO_IMAGE };
      return typeof value === "string" && value.length > 10_000 ? value.slice(0, 4000) : value;
    }),
  );
}

function isImage(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "image" && "sha256" in value;
}

/** Lets Codex go on in the exported session and brings its file back: nothing but the new turn may change. */
async function goOn(path: string, { prompt, model, turns }: { prompt: string; model: string; turns: number }) {
  const before = blocks(await view());
  expect(blocks(await continueInCodex(path, { prompt, model }))).toEqual(before);
  expect(await bringIn(path)).toMatchObject({ status: "updated", turns });
  const asked = [{ role: "user", blocks: [{ type: "text", text: prompt }] }];
  const answered = [{ role: "assistant", blocks: [{ type: "text", text: REPLY }] }];
  expect(blocks(await view())).toEqual([...before, ...blocks(asked), ...blocks(answered)]);
  expect(await bringIn(path)).toMatchObject({ status: "unchanged", turns });
}

const COMPACTIONS: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  default: ["--keep", "1"],
  auto: ["--strategy", "auto"],
};

describe.skipIf(missing !== null)(`real agent: the loop with Codex on the corpus${because(missing)}`, () => {
  const sessions = listGoldens("codex");
  const runs = Object.entries(COMPACTIONS).flatMap(([name, args]) =>
    sessions.map(({ file, model }) => [`${basename(file)}, ${name}`, { args, file, model }] as const),
  );

  it.each(runs)("closes twice: %s", { timeout: 300_000 }, async (_, { args, file, model }) => {
    const original = join(sharedFolder, "corpus", file);
    const { turns } = await bringIn(original);
    if (args.length > 0) await sandbox.jpg(["compact", ...args]);
    const { path, session } = await exportTo("codex");
    expect(await bringIn(path)).toMatchObject({ status: "unchanged", turns });

    await goOn(path, { prompt: "go on, please", model, turns: turns + 1 });
    await goOn(path, { prompt: "and once more", model, turns: turns + 2 });
    const out = join(sandbox.root, "original");
    await jpg("export", "--original", "--output", out);
    expect(readFileSync(out).equals(readFileSync(original))).toBe(true);
    await jpg("export", "--original", "--session", session, "--output", out);
    expect(readFileSync(out).equals(readFileSync(path))).toBe(true);
  });
});

const bothMissing = missing ?? agentMissing;

describe.skipIf(bothMissing !== null)(`real agent: Claude Code and Codex take turns${because(bothMissing)}`, () => {
  const sessions = listGoldens("claude-code").slice(0, 4);

  it.each(sessions)("in one conversation: $file", { timeout: 300_000 }, async ({ file, model }) => {
    const { turns, branch } = await bringIn(join(sharedFolder, "corpus", file));
    expect((await sandbox.jpg(["check", "--provider", "openai-responses"])).code).toBe(0);
    const first = await exportTo("codex");
    await goOn(first.path, { prompt: "say it in Codex", model: "gpt-5.5", turns: turns + 1 });
    const second = await exportTo("claude-code");
    const { withPrompt } = await letAgentGoOn(second.path, { prompt: "say it in Claude Code", model });
    const said = JSON.stringify(withPrompt);
    expect(said).toContain("say it in Codex");
    expect(await bringIn(second.path)).toMatchObject({ status: "updated", turns: turns + 2, branch });
    const third = await exportTo("codex");
    await goOn(third.path, { prompt: "and back", model: "gpt-5.5", turns: turns + 3 });
  });
});
