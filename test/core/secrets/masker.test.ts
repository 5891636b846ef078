// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction, ToolCallPolicy } from "../../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { createMasker, maskLine, unescapedText } from "../../../src/core/secrets/mask.ts";
import { random } from "../../helpers/made-secrets.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const TOKEN = `ghp_${random(36)}`;
const KEY = `-----BEGIN PRIVATE KEY-----\n${random(64)}\n${random(40)}\n`;
const PASSWORD = "hV7q2Lm9xT";
const MASKS = new Map([
  [TOKEN, "redacted-github-1"],
  [KEY, "redacted-private-key-1"],
  [PASSWORD, "redacted-assigned-1"],
]);
const masker = createMasker(MASKS);

/** Every letter as JSON may write it. */
const escaped = (text: string): string =>
  [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const nested = (text: string, depth: number): string =>
  depth === 0 ? text : nested(JSON.stringify({ text }), depth - 1);

describe("createMasker", () => {
  it("masks a secret however it is written, and leaves everything else as it is", () => {
    for (const [secret, mask] of MASKS) {
      expect(masker.mask(`a ${secret} b ${secret}`)).toBe(`a ${mask} b ${mask}`);
      expect(masker.mask(`\t"\\n${escaped(secret)}" \\u0041`)).toBe(`\t"\\n${mask}" \\u0041`);
      for (const depth of [1, 2, 3]) expect(masker.mask(nested(secret, depth))).toBe(nested(mask, depth));
    }
    expect(masker.mask(`\u001b[31mghp_\u001b[1m${TOKEN.slice(4)}\u001b[m`)).toBe("\u001b[31mredacted-github-1\u001b[m");
  });

  it("masks what is left of a secret where a text was cut", () => {
    for (const text of [
      `use ${TOKEN.slice(0, 15)}`,
      `use ${TOKEN.slice(0, 15)}… then`,
      `use ${TOKEN.slice(0, 15)}... then`,
      `use ${TOKEN.slice(0, 15)}\n`,
      `use ${TOKEN.slice(0, 15)}\n\nMore of it\n`,
    ])
      expect(masker.mask(text)).toBe(text.replace(TOKEN.slice(0, 15), "redacted-github-1"));
    expect(masker.mask(`…${TOKEN.slice(-12)} it was`)).toBe("…redacted-github-1 it was");
    // Fewer characters than eight are anybody's.
    expect(masker.mask("use ghp_q7…")).toBe("use ghp_q7…");
  });

  it("gives one mask to what overlaps, of two at one place that of the longest", () => {
    const { mask } = createMasker(
      new Map([
        ["secret-one", "A"],
        ["secret-one-more", "B"],
        ["more-and-on", "C"],
      ]),
    );
    expect(mask("secret-one secret-one-more secret-one-more-and-on")).toBe("A B B");
  });
});

describe("unescapedText", () => {
  it("knows where each character came from", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "\\n", "\\\\u0041", "\u001b[31m", "\\", "é")),
        fc.nat(),
        (pieces, seed) => {
          const text = pieces.join("");
          const plain = unescapedText(text);
          if (plain === null || plain.text === "") return;
          const at = seed % plain.text.length;
          const { start, end } = plain.placeOf(at, at + 1);
          const piece = text.slice(start, end);
          expect(unescapedText(piece)?.text ?? piece).toBe(plain.text[at]);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe("maskLine", () => {
  it("changes strings alone: order, padding, numbers and repeated keys stay", () => {
    const line = `{  "b":1.50,"${TOKEN}":[12345678901234567890, "\\u0068V7q2Lm9xT"],"b":"${TOKEN}" }`;
    expect(maskLine(line, masker)).toBe(
      '{  "b":1.50,"redacted-github-1":[12345678901234567890, "redacted-assigned-1"],"b":"redacted-github-1" }',
    );
    expect(maskLine('{ "a":"nothing" }', masker)).toBe('{ "a":"nothing" }');
    expect(maskLine(`no JSON: ${TOKEN}`, masker)).toBe("no JSON: redacted-github-1");
  });

  it("masks what begins in one part of a content and ends in a later one", () => {
    const parts = [TOKEN.slice(0, 12), TOKEN.slice(12, 20), `${TOKEN.slice(20)} it is`];
    const line = JSON.stringify({ content: parts.map((text) => ({ type: "text", text })) });
    const { content } = JSON.parse(maskLine(line, masker)) as { content: { text: string }[] };
    expect(content.map(({ text }) => text).join("")).toBe("redacted-github-1 it is");
  });

  it("leaves no signature of a reasoning that it changed", () => {
    const event = { type: "chat_response", reasoning: `with ${TOKEN}`, metadata: { signature: "c2ln", model: "m" } };
    expect(JSON.parse(maskLine(JSON.stringify(event), masker))).toEqual({
      type: "chat_response",
      reasoning: "with redacted-github-1",
      metadata: { model: "m" },
    });
    const other = JSON.stringify({ ...event, reasoning: "without", id: TOKEN });
    expect(maskLine(other, masker)).toContain('"signature":"c2ln"');
  });
});

const SAID = [
  TOKEN,
  KEY,
  PASSWORD,
  escaped(TOKEN),
  nested(KEY, 2),
  nested(TOKEN, 1),
  `a ${PASSWORD} and ${TOKEN} b`,
  "nothing of the kind",
];

/** Puts secrets into every string that is somebody's own, names of fields among them; equal strings stay equal. */
function plant(value: unknown, key = ""): unknown {
  if (typeof value === "string") return FIXED.has(key) ? value : `${value} ${SAID[hash(value) % SAID.length]}`;
  if (Array.isArray(value)) return value.map((item) => plant(item, key === "keep" ? "id" : ""));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, plant(inner, name)] as const);
  return Object.fromEntries("arguments" in value ? [...entries, ["metadata", { [`of ${TOKEN}`]: [KEY] }]] : entries);
}

const hash = (text: string): number => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7);
/** Words of the format. */
const FIXED = new Set([
  "type",
  "role",
  "timestamp",
  "policy",
  "request",
  "response",
  "turns",
  "source",
  "inject",
  "attachments",
  "origin",
  "media_type",
]);

const planted = (turns: readonly Turn[], compactions: readonly Compaction[]) => ({
  turns: turns.map(({ index, events }) => ({ index, events: plant(events) as Event[] })),
  compactions: compactions.map(
    ({ tool_overrides, reasoning, ...compaction }) =>
      ({ ...(plant(compaction) as Compaction), ...(reasoning === undefined ? {} : { reasoning }) }) as Compaction,
  ),
});

const masked = <Value>(value: Value): Value => JSON.parse(maskLine(JSON.stringify(value), masker)) as Value;

/** Policies that count characters cut a mask elsewhere than what it stands for; those that count bytes tell those of the mask. */
function withoutCounting({ stubs, tool_calls, images, ...compaction }: Compaction): Compaction {
  const isCounting = JSON.stringify(tool_calls ?? null).includes("max_chars");
  return {
    ...compaction,
    ...(tool_calls === undefined || isCounting ? {} : { tool_calls: tool_calls as ToolCallPolicy }),
  };
}

describe("masking and projecting", () => {
  it("gives the same in either order", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(randomConversation, (random) => {
        const { turns, compactions } = planted(random.turns, random.compactions.map(withoutCounting));
        const view = projectTurns(turns, compactions);
        expect(projectTurns(masked(turns), masked(compactions))).toEqual(masked(view));
      }),
      { numRuns: runs(300) },
    );
  });

  it("leaves no secret in a view whose policies cut texts, and shows the same turns", () => {
    fc.assert(
      fc.property(randomConversation, (random) => {
        const { turns, compactions } = planted(random.turns, random.compactions);
        const view = projectTurns(masked(turns), masked(compactions));
        expect(view.turns.map(({ origin }) => origin)).toEqual(
          masked(projectTurns(turns, compactions).turns.map(({ origin }) => origin)),
        );
        const text = JSON.stringify(view);
        for (const secret of MASKS.keys())
          for (const form of [text, unescapedText(text)?.text ?? ""]) expect(form).not.toContain(secret.trim());
      }),
      { numRuns: runs(100) },
    );
  });

  it("looks at a run of a million backslashes once, not once for each", () => {
    const line = "\\".repeat(1_000_000);
    expect(createMasker(MASKS).mask(line)).toBe(line);
  });
});
