// Streams of jp for tests: read, and written as an export writes them.
import { createHash } from "node:crypto";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import type { Event, View } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import type { SessionDraft } from "../../src/formats/agent-format.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { readJpSession } from "../../src/formats/jp/agent.ts";
import { formatStream, writeJpSession } from "../../src/formats/jp/write.ts";
import type { Entry } from "./jp-rules.ts";

export const JP_ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
export const JP_SESSION = "6f1a2b3c-0000-5000-8000-00000000abcd";

/** Reads a stream, given as its text or its entries. */
export function readJp(stream: string | readonly unknown[]): ImportedSession {
  const text = typeof stream === "string" ? stream : formatStream(stream as readonly Entry[]);
  return readJpSession(createBufferSource(Buffer.from(text)));
}

export function jpTurns(session: ImportedSession): { readonly index: number; readonly events: readonly Event[] }[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

/** What turns say, as a view that changes nothing. */
export function wholeView(turns: readonly { readonly index: number; readonly events: readonly Event[] }[]): View {
  return { turns: turns.map(({ index, events }) => ({ origin: { kind: "kept", turn: index }, events })) };
}

/** Writes a conversation under its compactions. */
export function writeJp(
  turns: readonly { readonly index: number; readonly events: readonly Event[] }[],
  compactions: readonly Compaction[] = [],
): string {
  const draft: SessionDraft = {
    view: projectTurns(turns, compactions),
    history: { view: wholeView(turns), compactions },
    sessionId: JP_SESSION,
    origin: JP_ORIGIN,
    cwd: "/tmp/kelp",
    title: "Kelp beds",
    sha1: (bytes) => createHash("sha1").update(bytes).digest(),
    sha256: (text) => text,
  };
  return writeJpSession(draft);
}

/** What an import and an export make of a stream, without jpg's own entry. */
export function throughJpg(stream: string | readonly unknown[]): readonly Entry[] {
  const session = readJp(stream);
  const [origin, ...entries] = JSON.parse(writeJp(jpTurns(session), session.compactions)) as Entry[];
  if (origin?.["type"] !== "jpg-origin") throw new Error("jpg's own entry does not stand first");
  return entries;
}
