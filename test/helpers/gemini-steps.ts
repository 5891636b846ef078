// Drawn sessions of Gemini CLI: what a user and the agent do, as the records that the agent writes for it. A step counts from
// the newest message back where it names one.
import fc from "fast-check";
import {
  answer,
  call,
  header,
  info,
  type Json,
  list,
  loadedMessages,
  MODEL,
  prompt,
  response,
  result,
  SURROUNDINGS,
  touched,
  wentBack,
} from "./gemini-session.ts";

export type GeminiStep =
  | { readonly do: "ask" | "answer" | "call" | "calls" | "note" | "open" | "slash" | "context" }
  /** The list anew: as the session is resumed, with a summary before so many, with an output masked, cut to so many. */
  | { readonly do: "list" | "resume" | "compress" | "mask" | "abort" | "back" | "reword"; readonly count: number };

const plain = fc
  .constantFrom("ask", "ask", "answer", "call", "calls", "note", "slash", "context", "open")
  .map((act) => ({ do: act }) as GeminiStep);
const growing = fc.constantFrom("list", "resume", "compress", "mask", "reword");
const changing = fc.constantFrom("list", "resume", "compress", "mask", "reword", "abort", "back");
const counted = (acts: fc.Arbitrary<string>): fc.Arbitrary<GeminiStep> =>
  fc.record({ do: acts, count: fc.nat(6) }) as fc.Arbitrary<GeminiStep>;

/** Steps after which a file only grows. */
export const growingSteps: fc.Arbitrary<readonly GeminiStep[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: counted(growing) }),
  { maxLength: 16 },
);
export const anySteps: fc.Arbitrary<readonly GeminiStep[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: counted(changing) }),
  { maxLength: 16 },
);

/** Writes the records of steps. */
export function writeSteps(steps: readonly GeminiStep[]): readonly Json[] {
  const records: Json[] = [header(), list(SURROUNDINGS)];
  for (const [at, step] of steps.entries()) records.push(...recordsOf(step, `${at}`, records), touched(records.length));
  return records;
}

function recordsOf(step: GeminiStep, n: string, records: readonly Json[]): readonly Json[] {
  const loaded = loadedMessages(records);
  const last = (count: number): number => Math.max(0, loaded.length - count);
  const known = loaded
    .filter(({ type }) => type === "user" || type === "gemini")
    .map(({ id }) => id !== SURROUNDINGS["id"]);
  switch (step.do) {
    case "ask":
      return [prompt(`u${n}`, `ask ${Number(n) % 3}`)];
    case "slash":
      return [prompt(`u${n}`, `/etc/hosts ${n}`)];
    case "context":
      return [prompt(`u${n}`, `Here is the user's editor context as a JSON object. ${n}`)];
    case "note":
      return [info(`i${n}`, "shown")];
    case "answer":
      return [
        answer(`a${n}`, `re ${Number(n) % 2}`, { thoughts: [{ subject: "S", description: n }], tokens: { total: 1 } }),
      ];
    case "call":
    case "calls": {
      const ids = step.do === "call" ? [`k${n}`] : [`k${n}`, `l${n}`];
      const said = answer(`a${n}`, step.do === "call" ? "" : "two");
      return [
        said,
        { ...said, toolCalls: ids.map((id) => call(id, `out ${id}`)) },
        result(`r${n}`, ids[0]!, `out ${ids[0]}`),
      ];
    }
    case "open":
      return [header(), list(SURROUNDINGS), { $set: { sessionId: header()["sessionId"] } }, resumed(loaded)];
    case "list":
    case "resume":
      return [resumed(loaded)];
    case "compress":
      return [compressed(loaded, { n, kept: last(step.count) })];
    case "mask":
      return masked(loaded, n);
    case "abort":
      return known.length === 0 ? [] : [list(...loaded.slice(0, Math.max(1, last(step.count))))];
    case "back": {
      const to = loaded[last(step.count)]?.["id"];
      return to === undefined ? [] : [wentBack(String(to))];
    }
    case "reword": {
      const changed = loaded.findLast(({ type }) => type === "gemini");
      return changed === undefined || step.count > 1 ? [] : [{ ...changed, content: `reworded ${n}`, model: MODEL }];
    }
  }
}

type Parts = readonly Json[];
const partsOf = ({ content }: Json): Parts => (typeof content === "string" ? [{ text: content }] : (content as Parts));
const callsOf = ({ toolCalls }: Json): Parts => (toolCalls ?? []) as Parts;
const resultsOf = (message: Json): Parts => callsOf(message).flatMap(({ result: given }) => (given ?? []) as Parts);

/** The agent's list as it writes it when a session is resumed: calls as parts, results as messages besides. */
function resumed(loaded: readonly Json[]): Json {
  const said = loaded.filter((one) => isSent(one));
  return list(
    SURROUNDINGS,
    ...said.flatMap((one) => {
      const parts = partsOf(one);
      const isWhole = one["type"] === "user" || parts.some((part) => "functionCall" in part);
      const calls = callsOf(one).map(({ id, name, args }) => ({ functionCall: { id, name, args } }));
      const content = isWhole ? parts : [...parts.filter(({ text }) => text !== ""), ...calls];
      const whole = content.length === 0 ? [] : [{ ...one, content }];
      const results = resultsOf(one);
      const isGiven = said.some(({ id }) => id === `${String(one["id"])}_response`);
      if (results.length === 0 || isGiven) return whole;
      return [...whole, { id: `${String(one["id"])}_response`, type: "user", content: results }];
    }),
  );
}

function isSent(message: Json): boolean {
  if (message["type"] === "gemini") return true;
  const first = partsOf(message)[0] ?? {};
  return message["type"] === "user" && ("functionResponse" in first || !/^[/<]/.test(String(first["text"])));
}

/** Everything before a request in a summary; what stays has ids of its own, as the agent gives them. */
function compressed(loaded: readonly Json[], { n, kept }: { readonly n: string; readonly kept: number }): Json {
  const from = loaded.findIndex(
    (one, at) => at >= kept && one["type"] === "user" && isSent(one) && "text" in (partsOf(one)[0] ?? {}),
  );
  const tail = from < 0 ? [] : loaded.slice(from).filter(isSent);
  return list(
    SURROUNDINGS,
    prompt(`s${n}`, `<state_snapshot>${n}</state_snapshot>`),
    answer(`g${n}`, "Got it. Thanks for the additional context!"),
    ...tail.map((one, at) => ({ ...one, id: `c${n}-${at}` })),
  );
}

/** All told once more, with the first output masked, and then as the list. */
function masked(loaded: readonly Json[], n: string): readonly Json[] {
  const { $set } = resumed(loaded) as { $set: { messages: Json[] } };
  let isMasked = false;
  const again = $set.messages.map((one, at) => {
    const content = partsOf(one).map((part) => {
      const { functionResponse: given } = part as { functionResponse?: { id: string; name: string } };
      if (given === undefined || isMasked) return part;
      isMasked = true;
      return response(given.id, `masked ${n}`, given.name);
    });
    const id = at === 0 ? one["id"] : `z${n}-${at}`;
    return { id, type: one["type"], content };
  });
  return [...again, list(...again)];
}
