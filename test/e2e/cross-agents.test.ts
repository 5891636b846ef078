// A conversation of each agent goes on in each other one: what the user and the agent said, the calls and what came of them stand
// in the session that jpg writes, break no rule of the API, and are sent by the real agent. Needs the corpus (../shared or
// JPG_CORPUS); sending needs the agents as well (JPG_AGENTS_DIR).
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resumingAgents, writingAgents } from "../../src/app/sessions/session-registry.ts";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { type Event, textOfContent } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { joinContinued } from "../../src/core/model/continued-texts.ts";
import { turnsOf } from "../helpers/codex-session.ts";
import { corpusMissing, readCorpusFile } from "../helpers/corpus.ts";
import type { SentBlock, SentMessage } from "../helpers/normalizer.ts";
import { missingAgents, resumeIn } from "../helpers/resume-anywhere.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

/** An agent, a session of it, how the files that jpg writes for it end, and how it is asked. */
const PARTIES = [
  {
    name: "claude-code",
    file: "claude-code/entireio__cli/cd_95adddad32_0.jsonl",
    ending: ".jsonl",
    model: "claude-sonnet-4-5[1m]",
    provider: "anthropic",
  },
  {
    name: "codex",
    file: "codex/entireio__skills/01_da544acf74_0.jsonl",
    ending: ".jsonl",
    model: "gpt-5.5",
    provider: "openai-responses",
  },
  {
    name: "pi",
    file: "pi/badlogic__pi-mono/large-session.jsonl",
    ending: ".jsonl",
    model: "claude-sonnet-4-5",
    provider: "anthropic",
  },
  {
    name: "opencode",
    file: "opencode/dayhaysoos__nimbus/83_107b1c65c7_0.json",
    ending: ".json",
    model: "gpt-5.3-codex",
    provider: "openai-chat",
  },
  {
    name: "gemini-cli",
    file: "gemini/entireio__cli/ab_2b9748b105_0.json",
    ending: ".jsonl",
    model: "gemini-2.5-flash",
    provider: "google",
  },
  {
    name: "copilot-cli",
    file: "copilot-cli/EntityProcess__agentv/26_9e1b9e5502_0.jsonl",
    ending: ".jsonl",
    model: "claude-sonnet-4-5",
    provider: "openai-chat",
  },
] as const;

type Party = (typeof PARTIES)[number];

const PAIRS = PARTIES.flatMap((from) =>
  PARTIES.filter((to) => to !== from).map((to) => [from.name, to.name, { from, to }] as const),
);

const because = (reason: string | null): string => (reason === null ? "" : ` (SKIPPED: ${reason})`);

/** Words as they are compared: agents add line ends and blanks around what they join, jpg the mark of what no user said. */
const plain = (text: string): string =>
  text
    .replace(/<\/?system-reminder>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** What a person sees of a conversation: words of both sides, calls by their ids, what came of them. */
interface Said {
  readonly words: readonly string[];
  readonly calls: readonly string[];
  readonly results: readonly string[];
  /** Words of the harness, summaries among them: some agents' files do not tell them from the user's. */
  readonly others: readonly string[];
}

function saidIn(events: readonly Event[]): Said {
  const words: string[] = [];
  const calls: string[] = [];
  const results: string[] = [];
  const others: string[] = [];
  for (const event of events) {
    if (event.type === "chat_request" && event.metadata?.origin === undefined)
      words.push(plain(textOfContent(event.content)));
    if (event.type === "chat_response" && event.message !== undefined) words.push(plain(textOfContent(event.message)));
    if (event.type === "chat_request") others.push(plain(textOfContent(event.content)));
    if (event.type === "tool_call_request") calls.push(event.call_id);
    if (event.type === "tool_call_response") results.push(event.call_id);
  }
  return { words: words.filter((text) => text !== ""), calls, results, others };
}

/** The events of the view of a session file, by whichever agent it is of. */
function viewOf(bytes: Buffer): readonly Event[] {
  const source = createBufferSource(bytes);
  const agent = writingAgents().find(({ detect }) => detect(source))!;
  const session = agent.read(source);
  return joinContinued(projectTurns(turnsOf(session), session.compactions)).turns.flatMap(({ events }) => events);
}

/** Tells ids that are one call's alone: those that were made unreadable are one, and what is written tells the calls apart. */
function isOnce(ids: readonly string[]): (id: string) => boolean {
  const repeated = new Set(ids.filter((id, at) => ids.indexOf(id) !== at));
  const own = new Set(ids.filter((id) => !repeated.has(id)));
  return (id) => own.has(id);
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

/** Brings a session in and writes it for another agent. */
async function handOver({ from, to }: { readonly from: Party; readonly to: Party }): Promise<string> {
  await jpg("import", sandbox.session(`theirs.${from.file.split(".").at(-1)}`, readCorpusFile(from.file).toString()));
  return jpg("export", "--to", to.name);
}

describe.skipIf(corpusMissing !== null)(`every agent's session in every other's form${because(corpusMissing)}`, () => {
  it("is tried for all agents that go on with sessions", () => {
    expect(PARTIES.map(({ name }): string => name).sort()).toEqual(
      resumingAgents()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it.each(PAIRS)("%s → %s: the same words, calls and results, by the rules of the API", async (_, __, { from, to }) => {
    const text = await handOver({ from, to });
    const there = saidIn(viewOf(Buffer.from(text)));
    const here = saidIn(viewOf(readCorpusFile(from.file)));
    const isSaid = new Set(here.words);
    expect(there.words.filter((words) => isSaid.has(words))).toEqual(here.words);
    expect(there.words.filter((words) => !isSaid.has(words) && !here.others.includes(words))).toEqual([]);
    expect(there.calls).toHaveLength(here.calls.length);
    const isReadable = isOnce(here.calls);
    expect(there.calls.filter(isReadable).sort()).toEqual(here.calls.filter(isReadable).sort());
    expect(new Set(there.results)).toEqual(new Set(there.calls));
    await jpg("check", "--provider", to.provider);
  });
});

const missing = corpusMissing ?? missingAgents(PARTIES.map(({ name }) => name));

describe.skipIf(missing !== null)(
  `real agent: every agent goes on with every other's session${because(missing)}`,
  () => {
    it.each(PAIRS)("%s → %s: it sends what was said", async (_, __, { from, to }) => {
      const text = await handOver({ from, to });
      // Some agents find a session by the name of its file.
      const side = /"sessionId":"([^"]+)"/.exec(text)?.[1] ?? "";
      const sent = await resumeIn(to.name, sandbox.session(`${side}${to.ending}`, text), {
        prompt: "go on, please",
        model: to.model,
      });
      const blocks = sent.flatMap(({ blocks: own }: SentMessage) => own);
      const here = saidIn(viewOf(readCorpusFile(from.file)));
      const heard = plain(blocks.map(({ text: words = "" }: SentBlock) => words).join(" "));
      expect(here.words.filter((words) => !heard.includes(words))).toEqual([]);
      const called = blocks.filter(({ type }) => type === "tool_use");
      expect(called).toHaveLength(here.calls.length);
      expect(blocks.filter(({ type }) => type === "tool_result").length).toBeGreaterThanOrEqual(called.length);
      expect(heard).toContain("go on, please");
    });
  },
);
