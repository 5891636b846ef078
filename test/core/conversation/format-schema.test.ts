// @module-tag law
// docs/format.schema.json: it takes what the format's vectors and page show and refuses their malformed records, and says of any
// changed record what the code says of it, except where the page asks for more than a reader does.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCompaction } from "../../../src/core/conversation/compaction-line.ts";
import { isConversationName } from "../../../src/core/conversation/name.ts";
import { parseEventLine } from "../../../src/core/conversation/turn-file.ts";
import { formatSchema, RECORD_KINDS, schemaProblem } from "../../helpers/format-schema.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

interface Vectors {
  readonly turns: readonly { readonly text: string }[];
  readonly compactions: readonly { readonly line: string }[];
  readonly images: readonly {
    readonly event: string;
    readonly shown: string;
    readonly compactions: readonly string[];
  }[];
  readonly clamps: readonly { readonly line: string }[];
  readonly comments: readonly { readonly name: string; readonly meta: readonly string[] }[];
  readonly malformed: readonly {
    readonly what: "event" | "compaction";
    readonly text: string;
    readonly names: string;
  }[];
}

const vectors = JSON.parse(read("test/fixtures/format-vectors.json")) as Vectors;
const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

function examplesOf(kind: string): string[] {
  const blocks = read("docs/FORMAT.md").matchAll(new RegExp(`\`\`\`jsonl ${kind}\\n([\\s\\S]*?)\`\`\``, "g"));
  return [...blocks].flatMap(([, body = ""]) => linesOf(body));
}

const EVENTS = [
  ...vectors.turns.flatMap(({ text }) => linesOf(text)),
  ...vectors.images.flatMap(({ event, shown }) => [event, shown]),
  ...examplesOf("event"),
];
const COMPACTIONS = [
  ...vectors.compactions.map(({ line }) => line),
  ...vectors.images.flatMap(({ compactions }) => compactions),
  ...vectors.clamps.map(({ line }) => line),
  ...examplesOf("compaction"),
];
const damaged = ({ name }: { readonly name: string }): boolean => name.startsWith("damaged");
const METAS = vectors.comments.filter((vector) => !damaged(vector)).flatMap(({ meta }) => meta);

describe("docs/format.schema.json", () => {
  it.each([
    ["event", EVENTS],
    ["compaction", COMPACTIONS],
    ["meta", METAS],
    ["conversation", examplesOf("conversation")],
    ["config", examplesOf("config")],
    ["meta", examplesOf("meta")],
    ["toolDefinition", examplesOf("tool")],
    ["storeMarker", ['{"format":1}']],
    ["movedLine", [`{"$attachment":"${"0".repeat(64)}.jsonl"}`]],
  ] as const)("takes every %s of the vectors and the page, by its kind and as any record", (kind, lines) => {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const record: unknown = JSON.parse(line);
      expect([line, schemaProblem(record, kind), schemaProblem(record)]).toEqual([line, null, null]);
    }
  });

  it("refuses what the vectors call malformed or damaged, except what is no single JSON value", () => {
    const texts = vectors.malformed.filter(({ names }) => names !== "not valid JSON" && names !== "one line");
    expect(texts.length).toBe(vectors.malformed.length - 2);
    for (const { what, text, names } of texts)
      expect([text, names, schemaProblem(JSON.parse(text), what)]).toEqual([text, names, expect.any(String)]);
    for (const line of vectors.comments.filter(damaged).flatMap(({ meta }) => meta))
      expect([line, schemaProblem(JSON.parse(line))]).toEqual([line, expect.any(String)]);
  });

  it("refuses a record of every kind that lacks one of its fields, and a newer format", () => {
    for (const kind of RECORD_KINDS) {
      const { required } = formatSchema.$defs[kind] as { readonly required: readonly string[] };
      expect(schemaProblem({}, kind)).toContain(`'${required[0]}'`);
    }
    const header = JSON.parse(examplesOf("conversation")[0] ?? "") as object;
    expect(schemaProblem({ ...header, format: 2 })).toContain("/format");
    expect(schemaProblem({ ...header, source: { format: "pi", session: "s", importer: 1, parent: {} } })).toContain(
      "kind",
    );
  });

  it("takes what random conversations have", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns, compactions }) => {
        for (const event of turns.flatMap(({ events }) => events))
          expect(schemaProblem(stored(event), "event")).toBe(null);
        for (const compaction of compactions)
          expect(schemaProblem(stored({ ...compaction, needs: NEEDS }), "compaction")).toBe(null);
      }),
      { numRuns: runs(200) },
    );
  });

  it("says of a changed compaction what the code says", () => {
    fc.assert(
      fc.property(changed(COMPACTIONS), ({ record, path }) => {
        const [code, schema] = [checkCompaction(record) === null, schemaProblem(record, "compaction") === null];
        if (code !== schema) expect([path.join("."), code]).toEqual([expect.stringMatching(STRICTER.compaction), true]);
      }),
      { numRuns: runs(4000) },
    );
  });

  it("says of a changed event what the code says", () => {
    fc.assert(
      fc.property(changed(EVENTS), ({ record, path }) => {
        const [code, schema] = [isRead(record), schemaProblem(record, "event") === null];
        if (code !== schema) expect([path.join("."), code]).toEqual([expect.stringMatching(STRICTER.event), true]);
      }),
      { numRuns: runs(4000) },
    );
  });

  it("takes further fields anywhere", () => {
    fc.assert(
      fc.property(fc.constantFrom(...EVENTS, ...COMPACTIONS, ...METAS), fc.jsonValue(), (line, value) => {
        const record = JSON.parse(line, (_, inner: unknown) =>
          typeof inner === "object" && inner !== null && !Array.isArray(inner) ? { ...inner, x_new: value } : inner,
        ) as Record<string, unknown>;
        // Tools' names are the keys of this one.
        if ("tool_overrides" in record) delete (record["tool_overrides"] as Record<string, unknown>)["x_new"];
        expect(schemaProblem(record)).toBe(null);
      }),
      { numRuns: runs(400) },
    );
  });

  it("knows the names of conversations", () => {
    const piece = fc.constantFrom(
      "a",
      "Z",
      "9",
      ".",
      "-",
      "_",
      "..",
      ".lock",
      ".LOCK",
      "HEAD",
      "head",
      "refs",
      "Tags",
      "é",
      " ",
      "/",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const name = pieces.join("");
        expect([name, schemaProblem(name, "conversationName") === null]).toEqual([name, isConversationName(name)]);
      }),
      { numRuns: runs(2000) },
    );
  });
});

/** What jpg adds to a record where it is needed; the records here are drawn without. */
const NEEDS = ["index", "heads", "stub_text", "images"];

/** Where the page says more of a record than a reader checks, by the path of the change. */
const STRICTER: Readonly<Record<"event" | "compaction", RegExp>> = {
  event:
    /^(timestamp|prev|metadata(\..*)?|(content|message)\.\d+(\..*)?|(.*\.)?\$attachment|.*\.(encoding|pages|size))$/,
  compaction:
    /^(id|covers|summary\.prompt_sha256|needs(\.\d+)?|index|images|stubs(\..*)?|replacement\..*|receipt\.(facts|mentioned_later).*)$/,
};

/** As it is read back. */
function stored(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function isRead(record: unknown): boolean {
  try {
    parseEventLine(JSON.stringify(record), { file: "some", line: 1 });
    return true;
  } catch {
    return false;
  }
}

interface Changed {
  readonly record: unknown;
  /** Keys to the value that was changed, added or removed. */
  readonly path: readonly string[];
}

const VALUE = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    "",
    "keep",
    "strip",
    "omit",
    "x",
    0,
    1,
    -1,
    0.5,
    1e20,
    [],
    {},
    ["x"],
    [1],
  ),
  fc.constantFrom<unknown>(
    { $attachment: "0".repeat(64) },
    { drop: {} },
    { truncate: { max_chars: 1 } },
    { policy: "omit" },
    [{}],
  ),
);

/** A record of some lines in which one value, at any depth, is another one or gone. */
function changed(lines: readonly string[]): fc.Arbitrary<Changed> {
  return fc.constantFrom(...lines).chain((line) => {
    const record: unknown = JSON.parse(line);
    const paths = pathsIn(record);
    return fc
      .record({ path: fc.constantFrom(...paths), value: fc.option(VALUE, { nil: undefined, freq: 4 }) })
      .map(({ path, value }) => ({ path, record: stored(changeAt(record, path, value)) }));
  });
}

function pathsIn(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsIn(inner).map((path) => [key, ...path])]);
}

/** Undefined removes a field; in a list it is null. */
function changeAt(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  const inner = changeAt((value as Record<string, unknown>)[key], rest, to);
  return Array.isArray(value)
    ? value.map((item: unknown, at) => (String(at) === key ? inner : item))
    : { ...(value as object), [key]: inner };
}
