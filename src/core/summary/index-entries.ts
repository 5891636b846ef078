// What an index can name, list by list, newest first. Each list is read only as far as there is room for it.
import type { Event } from "../event/event.ts";
import { commandsRun } from "../loss/call-traces.ts";
import { textsOf } from "../loss/event-texts.ts";
import { errorLines } from "../loss/line-facts.ts";
import { callFacts } from "../tools/call-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { definedNames } from "./defined-names.ts";

/** One entry; an index needs none of what the view shows the name of. */
export interface IndexEntry {
  readonly name: string;
  readonly text: string;
}

/** The entries of one kind, and the share of the room that they may take. */
export interface IndexList {
  readonly title: string;
  readonly share: number;
  readonly entries: Iterable<IndexEntry>;
}

/** Longest entry, characters. */
const ENTRY_CHARS = 120;
/** How far into a result and from its end its exit code is looked for, characters. */
const STATUS_CHARS = 200;
const EXIT_CODE = /\bexit(?:ed with)?(?: code| status)?[: ]{1,3}(\d{1,3})\b/i;
const SHA = /\b[0-9a-f]{7,40}\b/g;
/** What a call did to a file, by its kind. */
const ACTS: Readonly<Record<string, string>> = { write: "written", edit: "changed", read: "read" };

/** Lists what events and calls hold, both newest first. */
export function listEntries(events: readonly Event[], calls: readonly ToolCall[]): readonly IndexList[] {
  return [
    { title: "Files", share: 0.35, entries: files(calls) },
    { title: "Commands", share: 0.25, entries: commands(calls) },
    { title: "Errors", share: 0.15, entries: lines(events) },
    { title: "SHAs", share: 0.05, entries: names(events, shasIn) },
    { title: "Names", share: 0.2, entries: names(events, definedNames) },
  ];
}

function files(calls: readonly ToolCall[]): readonly IndexEntry[] {
  const done = new Map<string, Set<string>>();
  for (const { request, response } of calls) {
    const { kind, path, paths = path === undefined ? [] : [path] } = callFacts(request);
    const act = response?.is_error === true ? "failed" : (ACTS[kind] ?? "named");
    for (const name of paths) done.set(name, (done.get(name) ?? new Set()).add(act));
  }
  return [...done].map(([name, acts]) => {
    const act = ` (${[...acts].join(", ")})`;
    return { name, text: `${shortenPath(name, ENTRY_CHARS - act.length)}${act}` };
  });
}

/** The end of a path tells more than its beginning. */
function shortenPath(path: string, limit: number): string {
  const line = path.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `…${line.slice(1 - limit).replace(/^[\udc00-\udfff]/, "")}`;
}

function* commands(calls: readonly ToolCall[]): Generator<IndexEntry> {
  for (const call of calls)
    for (const command of commandsRun(call.request.arguments)) {
      const text = shorten(command);
      yield { name: text.replace(/…$/, ""), text: `${text} → ${endingOf(call)}` };
    }
}

/** How a call ended: its exit code where its result says one other than 0. */
function endingOf({ response }: ToolCall): string {
  if (response === null) return "no result";
  const text = textsOf(response).join("\n");
  const code = (EXIT_CODE.exec(text.slice(0, STATUS_CHARS)) ?? EXIT_CODE.exec(text.slice(-STATUS_CHARS)))?.[1];
  if (code !== undefined && code !== "0") return `exit ${code}`;
  return response.is_error ? "failed" : "ok";
}

function* lines(events: readonly Event[]): Generator<IndexEntry> {
  for (const event of events)
    for (const line of errorLines(event)) {
      const text = shorten(line);
      yield { name: text.replace(/…$/, ""), text };
    }
}

function* names(events: readonly Event[], namesIn: (text: string) => Iterable<string>): Generator<IndexEntry> {
  for (const event of events)
    for (const text of textsOf(event)) for (const name of namesIn(text)) yield { name, text: name };
}

function shasIn(text: string): readonly string[] {
  return (text.match(SHA) ?? []).filter(isMixed);
}

/** Neither a number nor a word. */
function isMixed(name: string): boolean {
  return /\d/.test(name) && /[a-f]/.test(name);
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= ENTRY_CHARS) return line;
  return `${line.slice(0, ENTRY_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
