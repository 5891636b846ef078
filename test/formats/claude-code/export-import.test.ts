// What is exported and imported again is the same thread: the export says all that the import needs, and nothing else.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { checkAnthropic } from "../../../src/core/model/anthropic-rules.ts";
import { toAnthropicThread } from "../../../src/core/model/anthropic-thread.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { exportClaudeCode } from "../../../src/formats/claude-code/write.ts";
import { lineUuid } from "../../../src/formats/imported-session.ts";
import { EXPORT_CASES } from "./export-views.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const lineId = (source: string): string =>
  lineUuid(SESSION, source, (bytes) => createHash("sha1").update(bytes).digest());

type Wire = { role: string; content: Readonly<Record<string, unknown>>[] }[];

const wire = (view: View): Wire =>
  toAnthropicThread(view).messages.map(({ role, blocks }) => ({ role, content: blocks.map(({ block }) => block) }));

/** Without reminders: what an attachment of the agent says is for the agent, and the import, to word. */
const said = (messages: Wire): Wire =>
  messages.map(({ role, content }) => ({
    role,
    content: content.filter(({ text }) => !String(text).startsWith("<system-reminder>")),
  }));

describe("an exported view", () => {
  it.each(EXPORT_CASES)("is valid for the provider and comes back by an import: $name", ({ view }) => {
    const thread = toAnthropicThread(view);
    const { text, lines } = exportClaudeCode({
      thread,
      view,
      sessionId: SESSION,
      lineId,
      origin: ORIGIN,
      cwd: "/tmp/kelp",
    });
    const imported = readClaudeSession(createBufferSource(Buffer.from(text)));
    expect(imported).toMatchObject({ sessionId: SESSION, origin: ORIGIN, cwd: "/tmp/kelp", skippedLines: [] });

    const turns = Array.from({ length: imported.turnCount }, (_, index) => ({
      index,
      events: imported.readTurn(index),
    }));
    expect(said(wire(projectTurns(turns, imported.compactions)))).toEqual(said(wire(view)));
    expect(checkAnthropic(wire(view), { complete: false }).filter(({ severity }) => severity === "error")).toEqual([]);

    const visible = turns.flatMap(({ events }) => events).filter(({ type }) => /^(chat|tool)_/.test(type));
    expect(visible.map(({ id }) => lines.has(id.slice(0, SESSION.length)))).toEqual(visible.map(() => true));
  });
});
