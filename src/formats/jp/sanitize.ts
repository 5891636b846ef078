// Puts a stream right as jp does before it goes on with it: every conversation begins with a request, what answers nothing and
// what nobody answered is left out, and no turn is empty at the end. A stream in which nobody asked anything stays as it is.
import type { RawLine } from "../json-line.ts";
import { isTalk, type StreamKind } from "./entry-kind.ts";

/** An entry on its way into a stream, and the turn that it is written for, 0-based. */
export interface DraftEntry {
  readonly kind: StreamKind;
  readonly raw: RawLine;
  readonly turn: number;
}

/** Puts entries in stored order right. */
export function sanitize<Drafted extends DraftEntry>(
  entries: readonly Drafted[],
  startOf: (request: Drafted) => Drafted,
): readonly Drafted[] {
  if (!entries.some(({ kind }) => kind === "chat_request")) return entries;
  return withoutEmptyEnd(withoutOrphans(fromFirstRequest(entries, startOf)));
}

/** What is said before the first request goes, but for the start of its turn, which is made where it is missing. */
function fromFirstRequest<Drafted extends DraftEntry>(
  entries: readonly Drafted[],
  startOf: (request: Drafted) => Drafted,
): readonly Drafted[] {
  const first = entries.findIndex(({ kind }) => kind === "chat_request");
  const request = entries[first] as Drafted;
  const start = entries.findLastIndex(({ kind }, at) => at < first && kind === "turn_start");
  const before = entries.slice(0, first).filter((entry, at) => at === start || !isSaid(entry));
  return start < 0 ? [...before, startOf(request), ...entries.slice(first)] : [...before, ...entries.slice(first)];
}

function withoutOrphans<Drafted extends DraftEntry>(entries: readonly Drafted[]): readonly Drafted[] {
  const inquiries = pairedInquiries(entries);
  const open = new Map<unknown, number>();
  return entries.filter((entry) => {
    const { kind, raw } = entry;
    const { id } = raw;
    const count = open.get(id) ?? 0;
    if (kind === "tool_call_request") open.set(id, count + 1);
    if (kind === "inquiry_request" || kind === "inquiry_response") return inquiries.has(entry);
    if (kind !== "tool_call_response") return true;
    if (count > 0) open.set(id, count - 1);
    return count > 0;
  });
}

/** Questions with the answers that follow them. */
function pairedInquiries(entries: readonly DraftEntry[]): ReadonlySet<DraftEntry> {
  const open = new Map<unknown, DraftEntry>();
  const paired = new Set<DraftEntry>();
  for (const entry of entries) {
    const { kind, raw } = entry;
    const { id } = raw;
    const asked = open.get(id);
    if (kind === "inquiry_request") open.set(id, entry);
    if (kind !== "inquiry_response" || asked === undefined) continue;
    paired.add(asked).add(entry);
    open.delete(id);
  }
  return paired;
}

function withoutEmptyEnd<Drafted extends DraftEntry>(entries: readonly Drafted[]): readonly Drafted[] {
  const last = entries.findLastIndex((entry) => isSaid(entry) && entry.kind !== "turn_start");
  return entries.filter((entry, at) => at < last || entry.kind !== "turn_start");
}

function isSaid({ kind }: DraftEntry): boolean {
  return isTalk(kind);
}
