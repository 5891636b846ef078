// Builds small invented Claude Code sessions from steps, as the agent would have written them line by line, for tests of
// what becomes of a session: imports, growth, rewinds, compactions.
import fc from "fast-check";
import { asSession, type ClaudeWriter, createClaudeWriter, type Json } from "./claude-session.ts";

/** One thing that happens in a session. `back` counts answers from the newest, 0-based. */
export type SessionStep =
  | "prompt"
  | "say"
  | "think"
  | "queue"
  | "progress"
  | "snapshot"
  | "title"
  | "sidechain"
  | { readonly tools: number; readonly order?: "late" }
  | { readonly compact: number }
  /** The agent notes which tools it offers: the first so many of its tools. */
  | { readonly offers: number }
  | { readonly rewind: number };

export interface BuiltSession {
  readonly lines: readonly Json[];
  /** The file's bytes after its first lines, all when left out. */
  text(lineCount?: number): Buffer;
}

/** Builds a session; steps are numbered, so that every text differs. The same steps give the same bytes. */
export function buildSession(steps: readonly SessionStep[], options: { readonly session?: string } = {}): BuiltSession {
  const writer = createClaudeWriter();
  for (const [at, step] of steps.entries()) take(writer, step, at);
  const session = options.session;
  const lines = session === undefined ? writer.lines : asSession(writer.lines, session);
  const texts = lines.map((line) => `${JSON.stringify(line)}\n`);
  return { lines, text: (lineCount = lines.length) => Buffer.from(texts.slice(0, lineCount).join("")) };
}

/** As many turns as asked, each a request and an answer; every third with tool calls. */
export function plainTurns(count: number): SessionStep[] {
  return Array.from({ length: count }, (_, turn): SessionStep[] =>
    turn % 3 === 1 ? ["prompt", { tools: 2 }, "say"] : ["prompt", "say"],
  ).flat();
}

function take(writer: ClaudeWriter, step: SessionStep, at: number): void {
  if (typeof step !== "string") takeComposed(writer, step, at);
  else takeSimple(writer, step, at);
}

/** Writes a step that needs no more than its name; `at` numbers it. */
export function takeSimple(writer: ClaudeWriter, step: Extract<SessionStep, string>, at: number): void {
  switch (step) {
    case "prompt":
      writer.prompt(`request ${at}`);
      break;
    case "say":
      writer.say(`answer ${at}`);
      break;
    case "think":
      writer.think(`thought ${at}`, `words ${at}`);
      break;
    case "queue":
      writer.queue(`queued ${at}`);
      break;
    case "progress":
      writer.progress();
      break;
    case "snapshot":
      writer.side({ type: "file-history-snapshot", messageId: `m${at}`, snapshot: {} });
      break;
    case "title":
      writer.side({ type: "custom-title", customTitle: `Title ${at}` });
      break;
    case "sidechain":
      takeSidechain(writer, at);
  }
}

function takeComposed(writer: ClaudeWriter, step: Exclude<SessionStep, string>, at: number): void {
  if ("tools" in step) {
    const order = Array.from({ length: step.tools }, (_, position) => position);
    writer.tools(step.tools, step.order === "late" ? order.reverse() : order);
  } else if ("offers" in step) {
    writer.node({ type: "attachment", attachment: promptSnapshot(step.offers) });
  } else if ("compact" in step) {
    if (writer.sent.length > 0) writer.compact(`summary ${at}`, { keepLast: wholeTail(writer, step.compact) });
  } else {
    const answers = writer.sent.filter(({ mark }) => mark.startsWith("A:answer"));
    const target = answers.at(-1 - step.rewind);
    const isCompacted = writer.lines.some((line) => line["subtype"] === "compact_boundary");
    if (target !== undefined && !isCompacted) writer.rewind(target.uuid);
    writer.prompt(`instead ${at}`);
  }
}

/** What the agent keeps of its prompt; without tools, as before the first request. */
function promptSnapshot(count: number): Json {
  const tools = ["Bash", "Read", "Write"].slice(0, count).map((name) => ({
    name,
    description: `Does ${name}.`,
    schema: { name, description: `Does ${name}.`, input_schema: { type: "object", properties: { input: {} } } },
  }));
  return { type: "prompt_snapshot", systemPrompt: ["Be kind."], ...(count === 0 ? {} : { tools }) };
}

/** A sub-agent's lines, beside the path. */
function takeSidechain(writer: ClaudeWriter, at: number): void {
  const head = writer.head;
  const asked = writer.node(
    { type: "user", isSidechain: true, message: { role: "user", content: `sub-agent ${at}` } },
    { parent: null },
  );
  const message = { role: "assistant", model: "claude-sonnet-4-5-20250929", content: [{ type: "text", text: "done" }] };
  writer.node({ type: "assistant", isSidechain: true, message }, { parent: asked });
  writer.head = head;
}

/** The agent keeps whole messages only, and never everything. */
function wholeTail(writer: ClaudeWriter, wanted: number): number {
  const marks = writer.sent.slice(-wanted).map(({ mark }) => mark);
  const isWhole = marks.every((mark) => /^[UA]:/.test(mark) && !mark.startsWith("U:summary"));
  return wanted > 0 && isWhole && writer.sent.length > wanted ? wanted : 0;
}

const simple = fc.constantFrom<SessionStep>(
  "prompt",
  "prompt",
  "say",
  "say",
  "think",
  "queue",
  "progress",
  "snapshot",
  "title",
  "sidechain",
);
const tools = fc.record({ tools: fc.integer({ min: 1, max: 3 }) });
const lateTools = fc.record({ tools: fc.integer({ min: 2, max: 3 }), order: fc.constant("late" as const) });
const compact = fc.record({ compact: fc.constantFrom(0, 0, 2) });
const offers = fc.record({ offers: fc.nat(3) });
const rewind = fc.record({ rewind: fc.nat(2) });

/** Steps of a session that only grows. */
export const growingSteps: fc.Arbitrary<readonly SessionStep[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: simple },
      { weight: 3, arbitrary: fc.oneof(tools, lateTools) },
      { weight: 1, arbitrary: compact },
      { weight: 1, arbitrary: offers },
    ),
    { minLength: 1, maxLength: 18 },
  )
  .map((steps) => ["prompt", ...steps]);

/** Steps of a session in which the user goes back now and then, too. */
export const anySteps: fc.Arbitrary<readonly SessionStep[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: simple },
      { weight: 3, arbitrary: tools },
      { weight: 1, arbitrary: compact },
      { weight: 1, arbitrary: offers },
      { weight: 2, arbitrary: rewind },
    ),
    { minLength: 1, maxLength: 18 },
  )
  .map((steps) => ["prompt", ...steps]);

/** A step of an agent in a session that was exported to it. */
export type AppendedStep = { readonly ask: string } | { readonly say: string } | { readonly compact: string } | "note";

/** Goes on in an exported session as the agent does: `name` keeps the ids of several continuations apart. */
export function appendToSession(text: string, name: string, steps: readonly AppendedStep[]): string {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
  const sessionId = lines.find((line) => line["sessionId"] !== undefined)?.["sessionId"];
  let parentUuid = lines.findLast((line) => line["uuid"] !== undefined && line["isSidechain"] !== true)?.["uuid"];
  let count = 0;
  const added: Json[] = [];
  const node = (line: Json, parent: unknown = parentUuid): void => {
    const number = String(++count).padStart(4, "0");
    const uuid = `10000000-0000-4000-8000-${name.padEnd(8, "0").slice(0, 8)}${number}`;
    const timestamp = new Date(Date.UTC(2026, 5, 1, 8, 0, lines.length + count)).toISOString();
    added.push({ parentUuid: parent, isSidechain: false, sessionId, version: "2.1.330", ...line, uuid, timestamp });
    parentUuid = uuid;
  };
  const model = "claude-sonnet-4-5-20250929";
  for (const step of steps) {
    if (step === "note") added.push({ type: "file-history-snapshot", messageId: name, snapshot: {}, sessionId });
    else if ("ask" in step) node({ type: "user", message: { role: "user", content: step.ask } });
    else if ("say" in step) {
      const content = [{ type: "text", text: step.say }];
      node({ type: "assistant", message: { id: `msg_${name}${count}`, role: "assistant", model, content } });
    } else {
      const content = "Conversation compacted";
      const compactMetadata = { trigger: "manual", preTokens: 500 };
      const logicalParentUuid = parentUuid;
      node({ type: "system", subtype: "compact_boundary", content, compactMetadata, logicalParentUuid }, null);
      node({ type: "user", isCompactSummary: true, message: { role: "user", content: step.compact } });
    }
  }
  return text + added.map((line) => `${JSON.stringify(line)}\n`).join("");
}
