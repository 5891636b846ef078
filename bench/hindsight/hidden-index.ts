// Experiment: a list of what a view hides, made by rule: files with what was done to them, commands with how they ended, SHAs,
// error lines, names that were defined; newest first, nothing that the view still shows.
import type { ChatRequest, Event } from "../../src/core/event/event.ts";
import { commandsRun } from "../../src/core/loss/call-traces.ts";
import { callFacts, isWriting } from "../../src/core/tools/call-facts.ts";
import { listToolCalls, type ToolCall } from "../../src/core/tools/tool-call.ts";
import type { CountTokens } from "./baselines.ts";
import type { Cut } from "./cut.ts";
import { type FactKey, textOfFact } from "./fact.ts";
import type { FactReader } from "./fact-reader.ts";
import { INDEX_ORIGIN } from "./score.ts";

/** The list's tokens at most: a share of what is hidden, and a number. */
const SHARE = 0.02;
const MOST_TOKENS = 1500;
const CHARS_PER_TOKEN = 4;
const LINE_CHARS = 120;
const DEFINED = /\b(?:function|class|interface|type|const|def|fn|func|struct|enum|trait)\s+([A-Za-z_]\w{3,59})/g;

/** A part of a list. */
type Part = "Files" | "Commands" | "Errors" | "SHAs" | "Names" | "Identifiers";

/** The parts of a list in their order, with the share of its room that each may take beside what those before it leave. */
export type IndexParts = readonly (readonly [Part, number])[];

/** What was done: files, commands, errors, SHAs, and names that were defined. */
export const INDEX: IndexParts = [
  ["Files", 0.35],
  ["Commands", 0.25],
  ["Errors", 0.15],
  ["SHAs", 0.05],
  ["Names", 0.2],
];
/** Files, and every identifier that stood there. */
export const IDENTIFIERS: IndexParts = [
  ["Files", 0.4],
  ["Identifiers", 0.6],
];

/** Puts the list in front of a view; the view itself where it hides nothing. */
export function withIndex(
  view: readonly Event[],
  { turns, past }: Pick<Cut, "turns" | "past">,
  { reader, count, parts }: { readonly reader: FactReader; readonly count: CountTokens; readonly parts: IndexParts },
): readonly Event[] {
  const standing = new Set(view);
  const hidden = past.filter((event) => !standing.has(event));
  const room = Math.min(MOST_TOKENS, SHARE * hidden.reduce((sum, event) => sum + count(event), 0));
  const shown = view.map(reader.text).join("\n");
  const calls = listToolCalls(turns).filter(
    ({ request, response }) => !standing.has(request) || !isIn(response, standing),
  );
  const text = writeList(listEntries(hidden, calls, reader), parts, { shown, chars: room * CHARS_PER_TOKEN });
  if (text === "") return view;
  const [first] = past;
  const index: ChatRequest = {
    type: "chat_request",
    id: "index",
    timestamp: first?.timestamp ?? "",
    content: text,
    metadata: { origin: INDEX_ORIGIN },
  };
  return [index, ...view];
}

function isIn(event: Event | null, standing: ReadonlySet<Event>): boolean {
  return event !== null && standing.has(event);
}

type Entries = Readonly<Record<Part, readonly string[]>>;

/** Newest first. */
function listEntries(hidden: readonly Event[], calls: readonly ToolCall[], reader: FactReader): Entries {
  const newest = hidden.toReversed();
  const done = new Map<string, Set<string>>();
  for (const { request } of calls.toReversed()) {
    const { kind, path, paths = path === undefined ? [] : [path] } = callFacts(request);
    for (const name of paths) {
      const acts = done.get(name) ?? new Set();
      done.set(name, acts.add(isWriting(kind) ? "changed" : kind));
    }
  }
  const facts = newest.flatMap((event) => [...reader.written(event)]);
  const ofKind = (kind: string): readonly string[] =>
    facts.filter((fact: FactKey) => fact.startsWith(kind)).map(textOfFact);
  return {
    Files: [...done].map(([path, acts]) => `${path} (${[...acts].join(", ")})`),
    Commands: calls
      .toReversed()
      .flatMap(({ request, response }) =>
        commandsRun(request.arguments).map((line) => `${line} → ${response?.is_error === true ? "failed" : "ok"}`),
      ),
    Errors: newest.flatMap(reader.errors),
    SHAs: ofKind("sha "),
    Identifiers: ofKind("identifier "),
    Names: newest.flatMap((event) => [...reader.text(event).matchAll(DEFINED)].map(([, name = ""]) => name)),
  };
}

function writeList(
  entries: Entries,
  parts: IndexParts,
  { shown, chars }: { readonly shown: string; readonly chars: number },
): string {
  let unused = 0;
  const lines: string[] = [];
  for (const [part, share] of parts) {
    let left = share * chars + unused;
    const taken: string[] = [];
    for (const entry of new Set(entries[part])) {
      const line = entry.slice(0, LINE_CHARS);
      const name =
        part === "Files" ? line.replace(/ \(.*$/, "") : part === "Commands" ? line.replace(/ → \w+$/, "") : line;
      if (left < line.length + 2) break;
      if (shown.includes(name)) continue;
      taken.push(line);
      left -= line.length + 2;
    }
    unused = left;
    if (taken.length > 0) lines.push(`${part}: ${taken.join("; ")}`);
  }
  return lines.join("\n");
}
