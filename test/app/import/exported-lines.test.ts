// @module-tag law
// Lines that jpg wrote are known again by their ids alone: the same lines, for the same events, as the writer says it wrote.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha1Bytes } from "../../../src/app/conversation/runtime.ts";
import { knownLines } from "../../../src/app/import/continued-session.ts";
import type { View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { toAnthropicThread } from "../../../src/core/model/anthropic-thread.ts";
import { CLAUDE_CODE } from "../../../src/formats/claude-code/agent.ts";
import { exportClaudeCode } from "../../../src/formats/claude-code/write.ts";
import { lineUuid } from "../../../src/formats/imported-session.ts";
import { foreignConversation } from "../../helpers/foreign-events.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";

function written(view: View): ReadonlyMap<string, string> {
  const lineId = (name: string): string => lineUuid(SESSION, name, sha1Bytes);
  const origin = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
  const thread = toAnthropicThread(view, { systemMessages: true });
  return exportClaudeCode({ thread, view, sessionId: SESSION, lineId, origin, cwd: "/tmp/kelp" }).lines;
}

describe("exported lines", () => {
  it.each([
    ["of jpg's own conversations", randomConversation],
    ["of other agents' conversations", foreignConversation],
  ])("are all known by their ids, and nothing else is: %s", (_, conversations) => {
    fc.assert(
      fc.property(conversations, ({ turns, compactions }) => {
        const view = projectTurns(turns, compactions);
        const lines = written(view);
        const session = { sessionId: SESSION, hasLine: (id: string) => lines.has(id) };
        const known = knownLines(view, session, CLAUDE_CODE.write!);
        expect([...known.lines.keys()].sort()).toEqual([...lines.keys()].sort());
        const differing = [...lines].filter(([id, shows]) => known.lines.get(id) !== shows);
        expect(differing.every(([id]) => known.further.has(id))).toBe(true);
        const other = { ...session, hasLine: () => false };
        expect(knownLines(view, other, CLAUDE_CODE.write!).lines.size).toBe(0);
      }),
      { numRuns: runs(200) },
    );
  });
});
