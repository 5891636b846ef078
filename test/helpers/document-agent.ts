// An invented agent that rewrites its session on each save: one JSON document, `{"session", "note", "messages": [{id, role, text}]}`.

import type { AgentFormat } from "../../src/formats/agent-format.ts";
import type { SessionSource } from "../../src/formats/session-source.ts";
import { createSession, type PlainMessage } from "./plain-agent/import.ts";

interface Document {
  readonly session: string;
  readonly note?: string;
  readonly messages: readonly Omit<PlainMessage, "line">[];
}

/** How the importer reads: changed by a test that stands for a later version of it. */
export const READING: { suffix: string } = { suffix: "" };

/** The text of a session of so many turns; `other` = turns that differ from this one on. */
export function writeDocument(
  turns: number,
  options: { readonly note?: string; readonly other?: number } = {},
): string {
  const { note = "", other = Number.POSITIVE_INFINITY } = options;
  const messages = Array.from({ length: turns }, (_, turn) => {
    const id = `${turn >= other ? "other" : "m"}${turn}`;
    return [
      { id: `${id}q`, role: "user", text: `question ${id}` },
      { id: `${id}a`, role: "assistant", text: `answer ${id}` },
    ];
  });
  return JSON.stringify({ session: "one-document", note, messages: messages.flat() }, null, 2);
}

export const DOCUMENT_AGENT: AgentFormat = {
  name: "document",
  agent: { name: "Document", email: "document@jpg.invalid" },
  importer: 1,
  files: { endings: [".json"], document: () => "json" },
  detect: (source) => source.text().includes('"session"'),
  sessionId: (source) => parse(source).session,
  origin: () => null,
  read(source) {
    const { session, messages } = parse(source);
    const read = messages.map((message, line) => ({ ...message, text: message.text + READING.suffix, line }));
    return createSession(read, { format: "document", sessionId: session, skippedLines: [] });
  },
  help: { place: "", file: "", reads: "", lost: [] },
};

function parse(source: SessionSource): Document {
  return JSON.parse(source.text()) as Document;
}
