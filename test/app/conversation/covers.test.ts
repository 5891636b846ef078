// @module-tag law

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { checkCovers, coversDigest } from "../../../src/app/conversation/covers.ts";
import { blobId, sha256 } from "../../../src/app/conversation/runtime.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions, loadTurns, loadView } from "../../../src/app/conversation/view.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import { turnPath } from "../../../src/core/conversation/turn-file.ts";
import { buildSession, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const turn = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 });

/** Texts of turn files whose events are `<turn>.<position>`. */
const conversation: fc.Arbitrary<readonly string[]> = fc
  .array(turn, { minLength: 1, maxLength: 4 })
  .map((turns) =>
    turns.map((words, index) =>
      words.map((word, at) => `${JSON.stringify({ type: "note", id: `${index}.${at}`, word })}\n`).join(""),
    ),
  );

function factsOf(texts: readonly string[]) {
  const read: number[] = [];
  return {
    read,
    turnOids: texts.map((text) => blobId(Buffer.from(text))),
    readText: (index: number) => {
      read.push(index);
      return Promise.resolve(texts[index]!);
    },
  };
}

describe("coversDigest", () => {
  it("is the SHA-256 of one line a turn: its object id, cut turns by the bytes up to the bound's line end", async () => {
    const texts = ['{"id":"0.0"}\n{"id":"0.1"}\n', '{"id":"1.0"}\n', '{"id":"2.0"}\n{"id":"2.1"}\n{"id":"2.2"}\n'];
    const { turnOids, readText } = factsOf(texts);
    const id = (text: string): string => blobId(Buffer.from(text));
    const [first, middle, last] = texts as [string, string, string];
    const digest = (bounds: Partial<Compaction>) =>
      coversDigest({ from_turn: 0, to_turn: 2, ...bounds }, { turnOids, readText });
    expect(await digest({})).toBe(sha256(`0:${id(first)}\n1:${id(middle)}\n2:${id(last)}\n`));
    expect(await digest({ to_event: "2.1" })).toBe(
      sha256(`0:${id(first)}\n1:${id(middle)}\n2:${id('{"id":"2.0"}\n{"id":"2.1"}\n')}\n`),
    );
    expect(await digest({ from_event: "0.1" })).toBe(
      sha256(`0:${id('{"id":"0.0"}\n')}..${id(first)}\n1:${id(middle)}\n2:${id(last)}\n`),
    );
    expect(await digest({ from_event: "0.0", to_event: "2.2" })).toBe(await digest({}));
    expect(await digest({ to_event: "9.9" })).toBeNull();
    expect(await digest({ to_turn: 3 })).toBeNull();
  });
});

describe("checkCovers", () => {
  const bounded = conversation.chain((texts) =>
    fc.record({
      texts: fc.constant(texts),
      from: fc.nat(texts.length - 1),
      to: fc.nat(texts.length - 1),
      cutFrom: fc.boolean(),
      cutTo: fc.boolean(),
    }),
  );

  it("matches what it was made over, whatever is appended afterwards when its last event is named", async () => {
    await fc.assert(
      fc.asyncProperty(bounded, fc.boolean(), async ({ texts, from, to, cutFrom, cutTo }, grows) => {
        fc.pre(from <= to);
        const facts = factsOf(texts);
        const bounds = {
          from_turn: from,
          to_turn: to,
          ...(cutFrom ? { from_event: `${from}.0` } : {}),
          ...(cutTo ? { to_event: `${to}.0` } : {}),
        };
        const covers = (await coversDigest(bounds, facts))!;
        const compaction = { type: "compaction", id: "c", timestamp: "", ...bounds, covers } as Compaction;
        expect((await checkCovers(compaction, factsOf(texts))).matches).toBe(true);
        const isLast = to === texts.length - 1;
        const after = [...texts.slice(0, -1), `${texts.at(-1)}{"id":"new"}\n`];
        const grown = await checkCovers(compaction, factsOf(grows ? after : [...texts, '{"id":"new"}\n']));
        expect(grown.matches).toBe(!grows || !isLast || cutTo);
        expect((await checkCovers(compaction, factsOf(texts.slice(0, to)))).matches).toBe(false);
      }),
    );
  });

  it("reads no turn that is covered whole", async () => {
    const texts = ['{"id":"0.0"}\n', '{"id":"1.0"}\n', '{"id":"2.0"}\n'];
    const bounds = { from_turn: 0, to_turn: 1 };
    const covers = (await coversDigest(bounds, factsOf(texts)))!;
    const facts = factsOf(texts);
    const compaction: Compaction = { type: "compaction", id: "c", timestamp: "", ...bounds, to_event: "1.0", covers };
    expect(await checkCovers(compaction, facts)).toEqual({ matches: true, whole: true });
    expect(facts.read).toEqual([]);
  });
});

describe("a summary on a branch", () => {
  let workspace: TestWorkspace;
  let branch: string;
  beforeEach(async () => {
    workspace = await createMemoryWorkspace();
    ({ branch } = await importBytes(workspace, buildSession(plainTurns(4)).text()));
  });
  const treeOf = async (name: string): Promise<BranchTree> =>
    loadBranchTree(workspace.store, name, await tipOf(workspace, name));

  async function summarise(bounds: Pick<Compaction, "from_turn" | "to_turn"> & { to_event?: string }): Promise<void> {
    const tree = await treeOf(branch);
    const turns = await loadTurns(workspace.store, tree);
    const readText = async (index: number) => {
      const [oid] = [tree.turnOids[index]!];
      for await (const bytes of workspace.store.readBlobs([oid])) return Buffer.from(bytes).toString();
      return "";
    };
    const covers = (await coversDigest(bounds, { turnOids: tree.turnOids, readText }))!;
    const timestamp = "2026-05-01T00:00:00.000Z";
    const facts = { id: "sum1", timestamp, ...bounds, summary: { summary: "in short" }, covers };
    const text = `${formatCompactionLine({ type: "compaction", ...facts }, [])}\n`;
    const person = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
    const path = recordPath("compactions", timestamp, "sum1");
    const commits = [
      { message: "c\n", author: person, committer: person, changes: [{ path, bytes: Buffer.from(text) }] },
    ];
    await workspace.store.write([{ branch, expected: tree.commit, parent: tree.commit, commits }]);
    expect(turns.size).toBe(tree.turnOids.length);
  }

  it("stays applied when the turn it ends in grows, and what was added is shown", async () => {
    const newest = (await loadTurns(workspace.store, await treeOf(branch), [3])).get(3)!.events.at(-1)!.id;
    await summarise({ from_turn: 0, to_turn: 3, to_event: newest });
    const more: SessionStep[] = [...plainTurns(4), "say"];
    const grown = await importBytes(workspace, buildSession(more).text());
    expect(grown).toMatchObject({ status: "updated", branch, turns: 4 });
    const { unapplied } = await loadCompactions(workspace.store, await treeOf(branch));
    expect(unapplied).toEqual([]);
    const { view } = await loadView(workspace.store, await treeOf(branch));
    expect(view.turns.map(({ origin }) => origin.kind)).toEqual(["summary", "kept"]);
  });

  it("is not applied on a fork with other turns than it summarises, and the log says so", async () => {
    await summarise({ from_turn: 0, to_turn: 2 });
    const tree = await treeOf(branch);
    const path = turnPath(2);
    const person = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
    const changes = [2, 3].map((index) => ({ path: turnPath(index), remove: true }) as const);
    expect((await workspace.store.readEntries(tree.commit, [path])).has(path)).toBe(true);
    const commits = [{ message: "shorter\n", author: person, committer: person, changes }];
    const short = branch.replace("/main", "/short");
    await workspace.store.write([{ branch: short, expected: null, parent: tree.commit, commits }]);
    const { view, live } = await loadView(workspace.store, await treeOf(short));
    expect(live.unapplied.map(({ compaction }) => compaction.id)).toEqual(["sum1"]);
    expect(view.turns.map(({ origin }) => origin.kind)).toEqual(["kept", "kept"]);
    const [row] = await readCompactionLog(workspace, await treeOf(short));
    expect(row).toMatchObject({ compaction: "sum1", live: true, not_applied: expect.stringContaining("0..2") });
  });
});
