// @module-tag law
// Turn files from bytes: the same events as from their text, and the first one without the rest.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTurnBytes, readFirstEvent } from "../../../src/app/conversation/turns.ts";
import { formatTurnFile, parseTurnFile, turnPath } from "../../../src/core/conversation/turn-file.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { randomTurns } from "../../helpers/random-conversation.ts";

/** Events with texts of all lengths and alphabets, some of them long. */
const turnText = fc
  .tuple(randomTurns, fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 3000 }))))
  .map(([turns, words]) => {
    const events = turns.flatMap(({ events: own }) => own);
    const notes = words.map(([word, count], index) => ({ type: "note", id: `n${index}`, text: word.repeat(count) }));
    const lines = notes.map((note) => `${JSON.stringify({ ...note, timestamp: "", kind: "made" })}\n`).join("");
    return lines + formatTurnFile(events);
  });

/** A store that holds one blob and gives no more of it than was asked for. */
function holding(bytes: Uint8Array): { readonly store: ConversationStore; readonly asked: (number | undefined)[] } {
  const asked: (number | undefined)[] = [];
  const readBlobs = async function* (_oids: readonly string[], atLeast?: number) {
    asked.push(atLeast);
    yield bytes.subarray(0, atLeast ?? bytes.length);
  };
  return { store: { readBlobs } as unknown as ConversationStore, asked };
}

describe("parseTurnBytes", () => {
  it("returns the events of the text, whatever is in it and however it ends", () => {
    fc.assert(
      fc.property(turnText, fc.boolean(), fc.boolean(), (text, isCut, isMarked) => {
        const given = isCut ? text.trimEnd() : text;
        const bytes = Buffer.from(isMarked ? `\ufeff${given}` : given);
        expect(parseTurnBytes(bytes, 7)).toEqual(parseTurnFile(given, turnPath(7)));
      }),
    );
  });

  it("names the file and the line of what is malformed", () => {
    const bytes = Buffer.from('{"type":"x","id":"1"}\n{"type":"x","id":"é"}\nnonsense\n');
    expect(() => parseTurnBytes(bytes, 7)).toThrow(/^turns\/0000\/000007\.jsonl:3 is not an event: not valid JSON/);
  });
});

describe("readFirstEvent", () => {
  it("returns the first event, reading more only when it is longer than what was read", async () => {
    await fc.assert(
      fc.asyncProperty(turnText, async (text) => {
        const { store, asked } = holding(Buffer.from(text));
        expect(await readFirstEvent(store, "oid", 7)).toEqual(parseTurnFile(text, turnPath(7)).slice(0, 1));
        const firstLine = Buffer.byteLength(text.slice(0, text.indexOf("\n") + 1));
        expect(asked.length).toBe(firstLine <= 4096 ? 1 : 2);
      }),
    );
  });

  it("does not look at later lines", async () => {
    const { store } = holding(Buffer.from('{"type":"x","id":"1"}\nnonsense\n'));
    expect(await readFirstEvent(store, "oid", 0)).toEqual([{ type: "x", id: "1" }]);
  });
});
