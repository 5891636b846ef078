// @module-tag law
// The head of a model's file: what it says of the window, and that no bytes break the reader.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGgufHeader } from "../../src/llm/gguf-engine.ts";
import { createTinyModel } from "../helpers/tiny-model.ts";

describe("the head of a GGUF file", () => {
  it("tells how many tokens the model sees, also behind its vocabulary", () => {
    const bytes = createTinyModel({ pieces: ["Hello"], contextLength: 4711 });
    expect(parseGgufHeader(bytes)).toEqual({ isGguf: true, contextLength: 4711 });
  });

  it("that is cut tells nothing, and is a GGUF file from its eighth byte", () => {
    const bytes = createTinyModel({ pieces: ["Hello"], contextLength: 4711 });
    const end = bytes.indexOf("llama.context_length") + "llama.context_length".length + 8;
    fc.assert(
      fc.property(fc.nat({ max: end - 1 }), (length) => {
        const header = parseGgufHeader(bytes.subarray(0, length));
        expect(header).toEqual({ isGguf: length >= 8, contextLength: null });
      }),
    );
    expect(parseGgufHeader(bytes.subarray(0, end)).contextLength).toBe(4711);
  });

  it("of any bytes is read without an error, and in time", () => {
    const head = Buffer.from("GGUF\u0003\u0000\u0000\u0000");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (rest) => {
        expect(parseGgufHeader(Buffer.concat([head, rest])).isGguf).toBe(true);
      }),
    );
    // Lists in lists, each said to be very long.
    const long = Buffer.alloc(8);
    long.writeBigUInt64LE(2n ** 40n);
    const one = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    const list = Buffer.from([9, 0, 0, 0]);
    const lists = Array.from({ length: 20_000 }, () => Buffer.concat([list, long]));
    const deep = Buffer.concat([head, one, one, one, Buffer.from("a"), list, ...lists]);
    expect(parseGgufHeader(deep)).toEqual({ isGguf: true, contextLength: null });
    expect(parseGgufHeader(Buffer.from("not a model at all"))).toEqual({ isGguf: false, contextLength: null });
  });
});
