// The whole loop on real sessions with the real agent: import, compact, export, let the agent go on, import its file. Nothing
// may be lost or stand twice on the way. Needs the agent (JPG_AGENTS_DIR) and the corpus (../shared or JPG_CORPUS).
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { corpusMissing, GROWTH_SERIES, listGoldens, sharedFolder } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const missing = corpusMissing ?? agentMissing;
const why = missing === null ? "" : ` (SKIPPED: ${missing})`;
/** Fourteen sessions; of the one that grew, all states but the newest. */
const sessions = listGoldens("claude-code").filter(
  ({ file }) => /\/(?:PackmindHub|entireio__cli)/.test(file) && file !== GROWTH_SERIES.at(-1),
);

/** What is done to the conversation before it is exported; `turns` = how many it has. */
const COMPACTIONS: Readonly<Record<string, (sandbox: Sandbox, turns: number) => readonly string[] | null>> = {
  default: () => ["--keep", "1"],
  auto: () => ["--strategy", "auto"],
  "a summary of everything": (sandbox) => {
    const summary = join(sandbox.root, "summary.md");
    writeFileSync(summary, "## TASK STATE\nEverything until here was done.\n");
    return ["--from", "0", "--keep", "0", "--accept", summary, "--force"];
  },
  // One turn alone is not left out.
  "an omitted turn": (_, turns) => (turns > 1 ? ["--strategy", "classify-tangents", "--turns", "0", "--force"] : null),
};

/** What the agent, or the request that jpg writes, puts in where a session ends with the user or the assistant, and for a lost result. */
const REPAIR = /No response requested\.|\[No new message\.\]|\[Tool call interrupted: /;
const EMPTY_ANSWER = /No response requested\.|\[No new message\.\]/;

function blocksOf(
  messages: readonly SentMessage[],
  repair: RegExp,
): readonly (SentBlock & { readonly role: string })[] {
  return messages
    .flatMap(({ role, blocks }) => blocks.map((block) => ({ role, ...block })))
    .filter((block) => !repair.test(JSON.stringify(block)));
}

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

async function view(model: string): Promise<readonly SentMessage[]> {
  const body = JSON.parse(await jpg("export", "--to", "anthropic", "--messages", "--model", model)) as {
    messages: unknown;
  };
  return sentHistory(body.messages);
}

async function original(...args: string[]): Promise<Buffer> {
  const file = join(sandbox.root, "original");
  await jpg("export", "--original", ...args, "--output", file);
  return readFileSync(file);
}

/** Lets the agent go on in the exported session and brings its file back: nothing but the new turn may change. */
async function goOn(exported: string, { prompt, model, turns }: { prompt: string; model: string; turns: number }) {
  const before = await view(model);
  const { sent, withPrompt } = await letAgentGoOn(exported, { prompt, model });
  expect(blocksOf(sent, REPAIR)).toEqual(blocksOf(before, REPAIR));
  expect(await bringIn(exported)).toMatchObject({ status: "updated", turns });
  const reply = { role: "assistant", type: "text", text: "MOCK-REPLY-OK" };
  expect(blocksOf(await view(model), EMPTY_ANSWER)).toEqual([...blocksOf(withPrompt, EMPTY_ANSWER), reply]);
  expect(await bringIn(exported)).toMatchObject({ status: "unchanged", turns });
}

describe.skipIf(missing !== null)(`real agent: the loop on the corpus${why}`, () => {
  it("has fourteen sessions", () => {
    expect(sessions).toHaveLength(14);
  });

  const runs = Object.entries(COMPACTIONS).flatMap(([name, args]) =>
    sessions.map(({ file, model }) => [`${basename(file)}, ${name}`, { args, file, model }] as const),
  );
  it.each(runs)("closes twice: %s", { timeout: 300_000 }, async (_, { args, file, model }) => {
    const path = join(sharedFolder, "corpus", file);
    const { turns } = await bringIn(path);
    const compaction = args(sandbox, turns);
    if (compaction !== null) await jpg("compact", ...compaction);
    const text = await jpg("export", "--to", "claude-code");
    const { sessionId } = JSON.parse(text.slice(0, text.indexOf("\n"))) as { sessionId: string };
    const exported = sandbox.session(`${sessionId}.jsonl`, text);
    expect(await bringIn(exported)).toMatchObject({ status: "unchanged", turns });

    await goOn(exported, { prompt: "go on, please", model, turns: turns + 1 });
    await goOn(exported, { prompt: "and once more", model, turns: turns + 2 });
    expect((await original()).equals(readFileSync(path))).toBe(true);
    expect((await original("--session", sessionId)).equals(readFileSync(exported))).toBe(true);
  });
});
