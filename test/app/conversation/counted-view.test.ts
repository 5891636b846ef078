// @module-tag law
// @module-tag law
// A view that is counted by the facts of turns that nothing shows says what reading all turns says, whatever is known before.

import { existsSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CountedView, loadCounted, reportTokens } from "../../../src/app/conversation/counted-view.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadAround, loadCompactions, loadTurns, loadView } from "../../../src/app/conversation/view.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import type { Event, Turn, View } from "../../../src/core/conversation/event.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { hasLooseCalls } from "../../../src/core/conversation/tool-pairing.ts";
import { formatTurnFile, turnPath } from "../../../src/core/conversation/turn-file.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import type { TokenMeter } from "../../../src/core/model/token-meter.ts";
import { turnFacts } from "../../../src/core/model/usage.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { withCaches } from "../../helpers/memory-cache.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";
import { commit, file, writeOne } from "../../helpers/store-writes.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

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

/** What is to be equal, of a branch. */
function said(view: View, live: readonly Compaction[], meter: TokenMeter): unknown {
  const shown = view.turns.flatMap(({ events }) => events);
  return {
    view,
    ...reportTokens({ view, meter, live: { applied: live, all: live, unapplied: [], damaged: [] } }),
    calibration: meter.calibration,
    factor: meter.factor,
    raw: meter.countHistoryByKind(),
    shown: meter.countByKind(shown),
    each: meter.countEvents(shown),
  };
}

describe("loadCounted", () => {
  let folder: ReturnType<typeof createTempFolder>;
  beforeAll(() => {
    folder = createTempFolder();
  });
  afterAll(() => folder.remove());

  /** A store in memory that holds the conversation, with caches that count as those of a folder. */
  async function stored({ turns, compactions }: RandomConversation, gitDir = folder.path) {
    const memory = await createMemoryStore();
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
    await writeOne(memory, { branch: "c/main", expected: null, parent: null, commits: [commit("all", files)] });
    const { store: cached, kept } = withCaches(memory);
    const read: string[] = [];
    const store = (at: string): ConversationStore =>
      new Proxy(cached, {
        get: (of, key) => {
          if (key === "gitDir") return at;
          if (key !== "readBlobs") return Reflect.get(of, key, of) as unknown;
          return (oids: readonly string[], atLeast?: number) => {
            read.push(...oids);
            return of.readBlobs(oids, atLeast);
          };
        },
      });
    const tree = await loadBranchTree(memory, "c/main", (await memory.readBranch("c/main")) ?? "");
    const load = async (at = gitDir) => {
      read.length = 0;
      const loaded = await loadCounted(store(at), tree);
      return { loaded, turnsRead: tree.turnOids.flatMap((oid, turn) => (read.includes(oid) ? [turn] : [])) };
    };
    return { store: store(gitDir), tree, kept, load };
  }

  async function whole(store: ConversationStore, tree: BranchTree) {
    const turns = await loadTurns(store, tree);
    const { applied } = await loadCompactions(store, tree);
    return { turns, applied, view: project({ turnCount: turns.size, turns, compactions: applied }) };
  }

  it("says with a cold cache, with a warm one and with all turns at hand the same", { tags: ["slow"] }, async () => {
    await fc.assert(
      fc.asyncProperty(metered, async (conversation) => {
        const { store, tree, load } = await stored(conversation);
        const { turns, applied, view } = await whole(store, tree);
        const expected = said(view, applied, createTokenMeter(turns.values()));
        const saidBy = ({ view: own, meter }: CountedView): unknown => said(own, applied, meter);
        const [cold, warm] = [await load(), await load()];
        expect(saidBy(cold.loaded)).toEqual(expected);
        expect(saidBy(warm.loaded)).toEqual(expected);
        expect(warm.loaded.facts).toEqual([...turns.values()].map((turn) => turnFacts(turn)));
        expect(warm.turnsRead.every((turn) => warm.loaded.turns.has(turn))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  it("says the same of a long one, whose full directories are known as one each, and reads no more for a longer summary", async () => {
    const turns = Array.from({ length: 230 }, (_, index): Turn => {
      const base = Date.UTC(2026, 0, 1) + index * 60_000;
      const at = (seconds: number): string => new Date(base + seconds * 1000).toISOString();
      const usage = { input_tokens: 900 + 31 * index, output_tokens: 9 };
      const answer = { type: "chat_response", message: `answer ${"word ".repeat(index % 17)}` } as const;
      const metadata = { message_id: `m${index}`, model: "claude-x", usage };
      return {
        index,
        events: [
          { type: "turn_start", id: `t${index}`, timestamp: at(0) },
          { type: "chat_request", id: `r${index}`, timestamp: at(1), content: `request ${index}` },
          { ...answer, id: `a${index}`, timestamp: at(2), metadata },
        ],
      };
    });
    const hiding = (id: string, to: number): Compaction => ({
      type: "compaction",
      id,
      timestamp: `2026-04-01T00:00:${id}Z`,
      from_turn: 0,
      to_turn: to,
      summary: { summary: `up to ${to}` },
    });
    const { store, tree, kept, load } = await stored({ turns, compactions: [hiding("10", 205)] });
    const { turns: all, applied, view } = await whole(store, tree);
    const expected = said(view, applied, createTokenMeter(all.values()));
    const [cold, warm] = [await load(), await load()];
    for (const { loaded } of [cold, warm]) expect(said(loaded.view, applied, loaded.meter)).toEqual(expected);
    expect(warm.loaded.facts.map(({ index, stretch }) => [index, stretch?.sizes.length ?? 1])).toEqual([
      [0, 100],
      [100, 100],
      ...Array.from({ length: 30 }, (_, at) => [200 + at, 1]),
    ]);
    expect(warm.turnsRead.filter((turn) => turn > 0 && turn <= 205)).toEqual([]);
    const longer = await stored({ turns, compactions: [hiding("10", 205), hiding("20", 220)] });
    for (const [name, bytes] of kept) longer.kept.set(name, bytes);
    const shorter = await stored({ turns, compactions: [hiding("10", 150)] });
    for (const [name, bytes] of kept) shorter.kept.set(name, bytes);
    expect((await longer.load()).turnsRead.filter((turn) => turn > 0 && turn <= 205)).toEqual([]);
    expect((await shorter.load()).turnsRead.filter((turn) => turn > 0 && turn <= 150)).toEqual([]);
  });

  it("reads of what a summary hides around what it keeps the kept turns alone", async () => {
    const turns = parseConversation(Array.from({ length: 130 }, () => "U A").join(" | "));
    const [, kept] = turns[7]?.events ?? [];
    const summary = makeCompaction("k", [0, 119], { ...summaryOf("in short"), keep: [kept?.id ?? ""] });
    const { store, tree, load } = await stored({ turns, compactions: [summary] });
    const { view } = await whole(store, tree);
    const seen = [0, 7, ...Array.from({ length: 10 }, (_, at) => 120 + at)];
    expect((await load()).turnsRead).toHaveLength(130);
    const { loaded, turnsRead } = await load();
    expect(loaded.view).toEqual(view);
    expect(turnsRead).toEqual(seen);
    expect((await loadView(store, tree)).view).toEqual(view);
  });

  it("takes nothing from a file that is damaged, or that was written for another store", async () => {
    const other = createTempFolder();
    await fc.assert(
      fc.asyncProperty(metered, fc.nat(), fc.nat({ max: 255 }), async (conversation, at, byte) => {
        const { load, kept } = await stored(conversation);
        const cold = await load();
        for (const [name, bytes] of kept) {
          const damaged = Buffer.from(bytes);
          damaged[at % damaged.length] = byte;
          kept.set(name, damaged);
        }
        expect((await load()).loaded).toEqual({ ...cold.loaded, meter: expect.anything() as TokenMeter });
        const elsewhere = await load(other.path);
        expect(elsewhere.turnsRead).toEqual(cold.turnsRead);
        expect((await load("/nowhere")).turnsRead).toEqual(cold.turnsRead);
      }),
      { numRuns: runs(30) },
    );
    other.remove();
    expect(existsSync(folder.path)).toBe(true);
  });

  it("tells of any turn what compactions do to it as from all turns", { tags: ["slow"] }, async () => {
    await fc.assert(
      fc.asyncProperty(metered, fc.nat(), async (conversation, seed) => {
        const { store, tree } = await stored(conversation);
        const { turns: all, applied, view } = await whole(store, tree);
        if (all.size === 0) return;
        const position = seed % all.size;
        const around = await loadAround(store, tree, [position]);
        expect(around.view).toEqual(view);
        expect((await loadView(store, tree)).view).toEqual(view);
        const { events } = all.get(position) as Turn;
        const located = (await loadCompactions(store, tree)).applied;
        expect(resolveDispositions([...all.values()], located)).toEqual(
          resolveDispositions([...all.values()], applied),
        );
        const others = applied.slice(1);
        for (const compactions of [applied, others]) {
          const expected = resolveDispositions([...all.values()], compactions);
          const found = resolveDispositions([...around.turns.values()], compactions, all.size);
          for (const { id } of events) expect(found.get(id)).toEqual(expected.get(id));
        }
        if (hasLooseCalls({ events })) expect(around.turns.size).toBe(all.size);
      }),
      { numRuns: runs(100) },
    );
  });
});
