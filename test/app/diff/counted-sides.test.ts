// @module-tag law
// A diff that counts turns by what is known of them counts what reading all turns counts, whatever is known before.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions, loadTurns, loadView } from "../../../src/app/conversation/view.ts";
import { countViews, diffViews } from "../../../src/app/diff/diff.ts";
import { type DiffStat, joinGone, keepHiddenCounts, loadCountedSides } from "../../../src/app/diff/diff-stat.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { formatTurnFile, turnPath } from "../../../src/core/conversation/turn-file.ts";
import type { ConversationStore, FileChange } from "../../../src/store/store.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { withCaches } from "../../helpers/memory-cache.ts";
import { dateCompaction, randomCompaction, randomTurns } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";

const HEADER = '{"format":1,"id":"c","title":"c","created_at":"2026-01-01T00:00:00Z","source":null}\n';
const LENGTH = 130;

/** A few turns again and again, under other ids; of calls under the same ones where they are `shared`. */
function repeat(turns: readonly Turn[], shared: boolean): readonly Turn[] {
  return Array.from({ length: LENGTH }, (_, index): Turn => {
    const events = turns[index % turns.length]?.events ?? [];
    const again = (event: Event): Event => ({
      ...event,
      id: `${event.id}.${index}`,
      ...("call_id" in event && !shared ? { call_id: `${event.call_id}.${index}` } : {}),
    });
    return { index, events: events.map(again) };
  });
}

interface Case {
  readonly turns: readonly Turn[];
  readonly older: readonly Compaction[];
  readonly newest: Compaction;
}

function hiding(from: number, to: number): Compaction {
  return makeCompaction("newest", [from, to], summaryOf("in short"), 9);
}

const cases: fc.Arbitrary<Case> = fc.tuple(randomTurns, fc.boolean()).chain(([few, shared]) => {
  const turns = repeat(few, shared);
  const ranged = fc.record({ from_turn: fc.constantFrom(0, 0, 3, 110), to_turn: fc.constantFrom(40, 99, 129) });
  const mechanical = fc.tuple(randomCompaction(turns, false), ranged).map(([drawn, range]) => {
    const { summary: _, replacement: __, turns: ___, from_event: ____, to_event: _____, ...rest } = drawn;
    return { ...rest, ...range };
  });
  const older = fc.oneof({ weight: 4, arbitrary: mechanical }, { weight: 1, arbitrary: randomCompaction(turns) });
  const newest = fc
    .tuple(fc.constantFrom(0, 0, 0, 1), fc.constantFrom(98, 99, 105, 129))
    .map(([from, to]) => hiding(from, to));
  return fc.record({
    turns: fc.constant(turns),
    older: fc
      .array(fc.tuple(older, fc.nat(3)), { maxLength: 3 })
      .map((stack) => stack.map(([compaction, second], at) => dateCompaction(compaction, `k${at}`, second))),
    newest,
  });
});

const pathOf = ({ timestamp, id }: Compaction): string => recordPath("compactions", timestamp, id);
const recordOf = (compaction: Compaction): FileChange =>
  file(pathOf(compaction), `${formatCompactionLine(compaction, [])}\n`);

/** A conversation before and after its newest compaction. */
async function stored({ turns, older, newest }: Case) {
  const { store, kept } = withCaches(await createMemoryStore());
  const said = turns.map(({ index, events }) => file(turnPath(index), formatTurnFile(events)));
  await append(store, "c/main", [
    commit("turns", [file("conversation.json", HEADER), ...said, ...older.map(recordOf)]),
  ]);
  const before = await treeOf(store);
  await append(store, "c/main", [commit("compaction", [recordOf(newest)], 1)]);
  return { store, kept, before, after: await treeOf(store) };
}

async function treeOf(store: ConversationStore) {
  return loadBranchTree(store, "c/main", (await store.readBranch("c/main")) ?? "");
}

type Stored = Awaited<ReturnType<typeof stored>>;
type Sides = Pick<Stored, "before" | "after">;

async function whole(store: ConversationStore, { before, after }: Sides): Promise<DiffStat> {
  return joined(diffViews((await loadView(store, before)).view, (await loadView(store, after)).view).stat);
}

/** As it is printed: turns that went as a whole are one row. */
function joined({ turns, total }: DiffStat): DiffStat {
  return { turns: joinGone(turns), total };
}

/** The counts, and the turns that were read for them. */
async function counts(store: ConversationStore, { before, after }: Sides) {
  const read: string[] = [];
  const spied = new Proxy(store, {
    get: (of, key) => {
      if (key !== "readBlobs") return Reflect.get(of, key, of) as unknown;
      return (oids: readonly string[], atLeast?: number) => {
        if (atLeast === undefined) read.push(...oids);
        return of.readBlobs(oids, atLeast);
      };
    },
  });
  const live = await loadCompactions(spied, after);
  read.length = 0;
  const sides = await loadCountedSides(spied, { before, after, live });
  return {
    stat: joined(countViews(sides.before, sides.after, { counted: sides.counted })),
    read: after.turnOids.flatMap((oid, turn) => (read.includes(oid) ? [turn] : [])),
  };
}

/** What `compact` keeps when it makes the newest compaction. */
async function keepAsMade({ store, before, after }: Stored): Promise<void> {
  const { view, live } = await loadView(store, before);
  const applied = (await loadCompactions(store, after)).applied;
  const added = applied.find(({ id }) => id === "newest");
  if (added !== undefined)
    await keepHiddenCounts(store, before, {
      view,
      turns: await loadTurns(store, before),
      compactions: live.applied,
      added,
    });
}

const upTo = (length: number): number[] => Array.from({ length }, (_, turn) => turn);

describe("loadCountedSides", () => {
  it("counts what reading all turns counts, of a compaction and of its revert", { tags: ["slow"] }, async () => {
    await fc.assert(
      fc.asyncProperty(cases, fc.boolean(), async (drawn, isKept) => {
        const made = await stored(drawn);
        const { store, before, after } = made;
        if (isKept) await keepAsMade(made);
        for (const sides of [
          { before, after },
          { before: after, after: before },
        ]) {
          const expected = await whole(store, sides);
          expect((await counts(store, sides)).stat).toEqual(expected);
          expect((await counts(store, sides)).stat).toEqual(expected);
        }
      }),
      { numRuns: runs(15) },
    );
  });

  const turns = repeat(
    [
      { index: 0, events: said("a") },
      { index: 1, events: [...said("b"), ...called("b")] },
    ],
    false,
  );
  const strip = makeCompaction("strip", [0, LENGTH - 1], STRIP_TOOLS);
  const newest = hiding(0, 105);

  it("reads no full directory that a compaction of this store hides, shortened ones neither", async () => {
    for (const older of [[], [strip]]) {
      const made = await stored({ turns, older, newest });
      await keepAsMade(made);
      const { stat, read } = await counts(made.store, made);
      expect(stat).toEqual(await whole(made.store, made));
      expect(read).toEqual(upTo(LENGTH).slice(100));
      const back = await counts(made.store, { before: made.after, after: made.before });
      expect(back.read).toEqual(upTo(LENGTH).slice(100));
    }
  });

  it("reads it once where another store made the compaction", async () => {
    const made = await stored({ turns, older: [strip], newest });
    expect((await counts(made.store, made)).read).toEqual(upTo(LENGTH));
    expect((await counts(made.store, made)).read).toEqual(upTo(LENGTH).slice(100));
  });

  it("takes nothing from a file that is damaged", async () => {
    const made = await stored({ turns, older: [], newest });
    await keepAsMade(made);
    const expected = await counts(made.store, made);
    expect(expected.read).toEqual(upTo(LENGTH).slice(100));
    for (const [name, bytes] of made.kept) made.kept.set(name, Buffer.from(String(bytes).replace("[2,", "[3,")));
    const { stat, read } = await counts(made.store, made);
    expect(stat).toEqual(expected.stat);
    expect(read).toEqual(upTo(LENGTH));
  });

  it("reads all turns where a result that is shown answers a call that is hidden", async () => {
    const late = turns.map(({ index, events }) => {
      if (index === 98) return { index, events: events.concat(called("late").slice(0, 1)) };
      return index === 110 ? { index, events: events.concat(called("late").slice(1)) } : { index, events };
    });
    const made = await stored({ turns: late, older: [strip], newest });
    await keepAsMade(made);
    const { stat, read } = await counts(made.store, made);
    expect(stat).toEqual(await whole(made.store, made));
    expect(read).toEqual(upTo(LENGTH));
  });
});

function said(id: string): readonly Event[] {
  const timestamp = "2026-01-01T00:00:00Z";
  return [
    { type: "turn_start", id: `${id}0`, timestamp },
    { type: "chat_request", id: `${id}1`, timestamp, content: `request ${id}` },
    { type: "chat_response", id: `${id}2`, timestamp, message: `answer ${id}` },
  ];
}

function called(id: string): readonly Event[] {
  const timestamp = "2026-01-01T00:00:00Z";
  return [
    { type: "tool_call_request", id: `${id}3`, timestamp, call_id: `c-${id}`, name: "grep", arguments: { of: id } },
    {
      type: "tool_call_response",
      id: `${id}4`,
      timestamp,
      call_id: `c-${id}`,
      content: `found ${id}`,
      is_error: false,
    },
  ] as readonly Event[];
}
