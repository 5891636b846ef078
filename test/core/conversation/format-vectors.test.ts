// Runs the test vectors of docs/FORMAT.md: what another implementation of the format must reproduce, as data.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { clampedRecords } from "../../../src/app/conversation/append.ts";
import { coversDigest } from "../../../src/app/conversation/covers.ts";
import { blobId, sha256 } from "../../../src/app/conversation/runtime.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import {
  formatCompactionLine,
  formatRecordLine,
  parseCompactionLine,
  parseRecordLine,
  recordPath,
} from "../../../src/core/conversation/compaction-line.ts";
import type { Event, Origin, Turn } from "../../../src/core/conversation/event.ts";
import { type Comment, type CommentRecord, commentsInForce } from "../../../src/core/conversation/marks.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { formatEventLine, parseEventLine, turnPath } from "../../../src/core/conversation/turn-file.ts";
import type { ConversationStore } from "../../../src/store/store.ts";

/** An event of an expected view: the id of one shown as it is, changes to one, or a whole event. */
type ExpectedEvent = string | (Record<string, unknown> & { readonly like?: string });

interface Vectors {
  readonly format: number;
  readonly turns: readonly { readonly path: string; readonly oid: string; readonly text: string }[];
  readonly covers: readonly {
    readonly name: string;
    readonly bounds: {
      readonly from_turn: number;
      readonly to_turn: number;
      readonly from_event?: string;
      readonly to_event?: string;
    };
    readonly hashed: string | null;
    readonly covers: string | null;
  }[];
  readonly records: readonly { readonly timestamp: string; readonly id: string; readonly path: string }[];
  readonly padding: { readonly compaction: string; readonly padding: readonly number[]; readonly line: string };
  readonly compactions: readonly {
    readonly name: string;
    readonly line: string;
    readonly path: string;
    readonly compaction: Compaction;
  }[];
  readonly views: readonly {
    readonly name: string;
    readonly compactions: readonly string[];
    readonly turns: readonly { readonly origin: Origin; readonly events: readonly ExpectedEvent[] }[];
  }[];
  /** One event in a turn of its own, and what the view shows of it; both as lines. */
  readonly images: readonly {
    readonly name: string;
    readonly compactions: readonly string[];
    readonly event: string;
    readonly shown: string;
  }[];
  readonly clamps: readonly {
    readonly name: string;
    readonly compaction: Compaction;
    readonly turn: number;
    readonly path: string;
    readonly line: string;
  }[];
  readonly comments: readonly {
    readonly name: string;
    readonly meta: readonly string[];
    readonly comments: readonly Comment[];
  }[];
  readonly malformed: readonly {
    readonly what: "event" | "compaction";
    readonly text: string;
    readonly names: string;
  }[];
}

const url = new URL("../../fixtures/format-vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(url, "utf8")) as Vectors;

const linesOf = (text: string): string[] => text.split("\n").slice(0, -1);

const turns: readonly Turn[] = vectors.turns.map(({ path, text }, index) => ({
  index,
  events: linesOf(text).map((line, at) => parseEventLine(line, { file: path, line: at + 1 })),
}));

const eventOf = new Map(turns.flatMap(({ events }) => events.map((event) => [event.id, event] as const)));

function expand(expected: ExpectedEvent): unknown {
  if (typeof expected === "string") return eventOf.get(expected);
  const { like, ...fields } = expected;
  return like === undefined ? fields : { ...eventOf.get(like), ...fields };
}

function compactionOf(name: string): Compaction {
  const found = vectors.compactions.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`the vectors name a compaction "${name}" that they do not hold`);
  return parseCompactionLine(`${found.line}\n`, found.path);
}

describe("turn files", () => {
  it.each(vectors.turns)("$path reads and writes back byte for byte", ({ path, oid, text }) => {
    const index = vectors.turns.findIndex((turn) => turn.path === path);
    expect(turnPath(index)).toBe(path);
    expect(blobId(new TextEncoder().encode(text))).toBe(oid);
    expect(turns[index]?.events.map((event) => `${formatEventLine(event)}\n`).join("")).toBe(text);
  });

  it("chain: each turn_start names the object id of the file before", () => {
    const prev = turns.map(({ events }) => (events[0] as { prev?: string }).prev);
    expect(prev).toEqual([undefined, ...vectors.turns.slice(0, -1).map(({ oid }) => oid)]);
  });

  it("unknown kinds and unknown fields come through untouched", () => {
    expect(eventOf.get("e15")).toMatchObject({ type: "x_mood", level: 7 });
    expect(eventOf.get("e16")).toMatchObject({ rating: null });
  });
});

describe("covers", () => {
  it.each(vectors.covers)("$name", async ({ bounds, hashed, covers }) => {
    if (hashed !== null) expect(sha256(hashed)).toBe(covers);
    const turnOids = vectors.turns.map(({ oid }) => oid);
    const readText = (index: number): Promise<string> => Promise.resolve(vectors.turns[index]?.text ?? "");
    expect(await coversDigest(bounds, { turnOids, readText })).toBe(covers);
  });
});

describe("compaction files", () => {
  it.each(vectors.compactions)("$name", ({ line, path, compaction }) => {
    expect(parseCompactionLine(`${line}\n`, path)).toEqual(compaction);
    expect(formatCompactionLine(compaction, [0])).toBe(line);
    expect(recordPath("compactions", compaction.timestamp, compaction.id)).toBe(path);
  });

  it("padding precedes the top-level keys and changes nothing", () => {
    const { compaction, padding, line } = vectors.padding;
    expect(formatCompactionLine(compactionOf(compaction), padding)).toBe(line);
    expect(parseCompactionLine(line, "padded")).toEqual(compactionOf(compaction));
  });

  it.each(vectors.records)("$path names $timestamp", ({ timestamp, id, path }) => {
    expect(recordPath("compactions", timestamp, id)).toBe(path);
  });
});

describe("copies on a fork of the first turns", () => {
  it.each(vectors.clamps)("$name", async ({ compaction, turn, path, line }) => {
    const textOf = new Map(vectors.turns.map(({ oid, text }) => [oid, text]));
    const store = {
      cache: () => ({ read: () => null }),
      async *readBlobs(oids: readonly string[]) {
        for (const oid of oids) yield new TextEncoder().encode(textOf.get(oid));
      },
    } as unknown as ConversationStore;
    const turnOids = vectors.turns.slice(0, turn + 1).map(({ oid }) => oid);
    const [file] = await clampedRecords(store, turnOids, [compaction]);
    expect(file).toEqual({ path, bytes: new TextEncoder().encode(`${line}\n`) });
  });
});

describe("views", () => {
  it.each(vectors.views)("$name", ({ compactions, turns: expected }) => {
    const wanted = expected.map(({ origin, events }) => ({ origin, events: events.map(expand) as Event[] }));
    const overlays = compactions.map(compactionOf);
    expect(projectTurns(turns, overlays)).toEqual({ turns: wanted });
    expect(projectTurns(turns, [...overlays].reverse())).toEqual({ turns: wanted });
  });
});

describe("images", () => {
  it.each(vectors.images)("$name", ({ compactions, event, shown }) => {
    const overlays = compactions.map((line) => parseCompactionLine(`${line}\n`, "some"));
    const [turn] = projectTurns(
      [{ index: 0, events: [parseEventLine(event, { file: "some", line: 1 })] }],
      overlays,
    ).turns;
    expect(turn?.events.map(formatEventLine)).toEqual([shown]);
  });
});

describe("comments", () => {
  it.each(vectors.comments)("$name", ({ meta, comments }) => {
    const records = meta.map((line) => parseRecordLine(`${line}\n`, "meta/some.jsonl"));
    expect(commentsInForce(records as unknown as readonly CommentRecord[])).toEqual(comments);
    expect(records.map((record) => formatRecordLine(record, [0]))).toEqual(meta);
  });
});

describe("malformed lines", () => {
  it.each(vectors.malformed)("$what is refused, naming $names", ({ what, text, names }) => {
    const parse = (): unknown =>
      what === "event"
        ? parseEventLine(text, { file: "some/file.jsonl", line: 3 })
        : parseCompactionLine(text, "some/file.jsonl");
    expect(parse).toThrow(names);
    expect(parse).toThrow("some/file.jsonl");
  });
});

describe("examples of docs/FORMAT.md", () => {
  const page = readFileSync(new URL("../../../docs/FORMAT.md", import.meta.url), "utf8");
  const examplesOf = (kind: string): string[] =>
    [...page.matchAll(new RegExp(`\`\`\`jsonl ${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].flatMap(([, body = ""]) =>
      linesOf(body),
    );

  it("events read and write back as on the page", () => {
    const lines = examplesOf("event");
    expect(lines.length).toBeGreaterThan(5);
    for (const [at, line] of lines.entries())
      expect(formatEventLine(parseEventLine(line, { file: "FORMAT.md", line: at }))).toBe(line);
  });

  it("compactions read and write back as on the page", () => {
    const lines = examplesOf("compaction");
    expect(lines.length).toBeGreaterThan(7);
    for (const line of lines) expect(formatCompactionLine(parseCompactionLine(line, "FORMAT.md"), [0])).toBe(line);
  });

  it("digests on the page are those of the vectors", () => {
    for (const { hashed, covers } of vectors.covers.slice(0, 2)) {
      expect(page).toContain(String(covers));
      expect(page).toContain(String(hashed).split("\n")[0]);
    }
  });
});
