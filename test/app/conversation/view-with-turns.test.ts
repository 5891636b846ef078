// @module-tag law
// A view with some turns loaded shows these turns as the whole conversation does.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions, loadTurns, loadView, loadViewWithTurns } from "../../../src/app/conversation/view.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { hasUnpairedCalls } from "../../../src/core/conversation/tool-pairing.ts";
import { formatTurnFile, turnPath } from "../../../src/core/conversation/turn-file.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";
import { commit, file, writeOne } from "../../helpers/store-writes.ts";

const HEADER = '{"format":1,"id":"c","title":"c","created_at":"2026-01-01T00:00:00Z","source":null}\n';

/** Answers with usage, some of them going on in a later turn, and agents' own compactions among the others. */
const metered: fc.Arbitrary<RandomConversation> = fc
  .tuple(randomConversation, fc.array(fc.nat({ max: 9 }), { minLength: 8, maxLength: 8 }))
  .map(([{ turns, compactions }, draw]) => ({
    turns: turns.map(({ index, events }) => ({
      index,
      events: events.map((event, at) => metering(event, index + at, draw)),
    })),
    compactions: compactions.map((compaction, at) =>
      (draw[at] ?? 0) < 4 ? { ...compaction, source: "import" } : compaction,
    ),
  }));

function metering(event: Event, place: number, draw: readonly number[]): Event {
  if (event.type !== "chat_response") return event;
  const kind = draw[place % draw.length] ?? 0;
  const usage = { input_tokens: 400 + 37 * place, output_tokens: kind };
  const metadata = {
    ...(kind % 2 === 0 ? { message_id: `m${place % 4}` } : {}),
    ...(kind > 2 ? { usage } : {}),
    ...(kind > 5 ? { model: kind > 8 ? "other" : "claude-x" } : {}),
  };
  // After the compactions that an agent made, or before them.
  return { ...event, ...(kind % 3 === 0 ? { timestamp: "2026-03-01T00:00:00Z" } : {}), metadata } as Event;
}

describe("loadViewWithTurns", () => {
  async function stored({ turns, compactions }: RandomConversation) {
    const store = await createMemoryStore();
    const files = [
      file("conversation.json", HEADER),
      ...turns.map(({ index, events }) => file(turnPath(index), formatTurnFile(events))),
      ...compactions.map((compaction) =>
        file(
          recordPath("compactions", compaction.timestamp, compaction.id),
          `${formatCompactionLine(compaction, [])}\n`,
        ),
      ),
    ];
    await writeOne(store, { branch: "c/main", expected: null, parent: null, commits: [commit("all", files)] });
    return { store, tree: await loadBranchTree(store, "c/main", (await store.readBranch("c/main")) ?? "") };
  }

  async function whole(store: ConversationStore, tree: BranchTree) {
    const turns = await loadTurns(store, tree);
    const { applied } = await loadCompactions(store, tree);
    return { turns, applied, view: project({ turnCount: turns.size, turns, compactions: applied }) };
  }

  it("shows any turn as when all turns are loaded", { tags: ["slow"] }, async () => {
    await fc.assert(
      fc.asyncProperty(metered, fc.nat(), async (conversation, seed) => {
        const { store, tree } = await stored(conversation);
        const { turns: all, applied, view } = await whole(store, tree);
        if (all.size === 0) return;
        const position = seed % all.size;
        const around = await loadViewWithTurns(store, tree, [position]);
        expect(around.view).toEqual(view);
        expect((await loadView(store, tree)).view).toEqual(view);
        const { events } = all.get(position) as Turn;
        const others = applied.slice(1);
        for (const compactions of [applied, others]) {
          const expected = resolveDispositions([...all.values()], compactions);
          const found = resolveDispositions([...around.turns.values()], compactions, all.size);
          for (const { id } of events) expect(found.get(id)).toEqual(expected.get(id));
        }
        if (hasUnpairedCalls({ events })) expect(around.turns.size).toBe(all.size);
      }),
      { numRuns: runs(100) },
    );
  });
});
