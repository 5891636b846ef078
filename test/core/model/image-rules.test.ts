// What providers refuse of images, each in a request of every provider's own shape, and what they take at the border.

import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../../src/core/json.ts";
import { checkAnthropic } from "../../../src/core/model/anthropic-rules.ts";
import { checkGoogle } from "../../../src/core/model/google-rules.ts";
import { checkOpenAiChat } from "../../../src/core/model/openai-chat-rules.ts";
import { checkOpenAiResponses } from "../../../src/core/model/openai-responses-rules.ts";
import { TINY_PNG } from "../../helpers/random-conversation.ts";
import { listSentences } from "../../helpers/violations.ts";

/** Bytes of a text in Latin-1, then zeros up to a length. */
function bytes(start: string, length = start.length): string {
  const all = new Uint8Array(Math.max(length, start.length));
  for (let at = 0; at < start.length; at++) all[at] = start.charCodeAt(at);
  return encodeBase64(all);
}
const four = (value: number) =>
  String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
const two = (value: number) => four(value).slice(2);
const little = (text: string) => [...text].reverse().join("");
const png = (width: number, height: number, length?: number) =>
  bytes(`\x89PNG\r\n\x1a\n${four(13)}IHDR${four(width)}${four(height)}\x08\x02\0\0\0`, length);
/** With a segment of a camera before the frame, as most have. */
const jpeg = (width: number, height: number) =>
  bytes(`\xff\xd8\xff\xe1${two(6)}Exif\xff\xff\xc2${two(17)}\x08${two(height)}${two(width)}\x03`);
const gif = (width: number, height: number) => bytes(`GIF89a${little(two(width))}${little(two(height))}`);
const webp = {
  lossy: (width: number, height: number) =>
    bytes(`RIFF${four(0)}WEBPVP8 ${four(0)}\0\0\0\x9d\x01\x2a${little(two(width))}${little(two(height))}`),
  lossless: (width: number, height: number) =>
    bytes(`RIFF${four(0)}WEBPVP8L${four(0)}\x2f${little(four((((height - 1) << 14) | (width - 1)) >>> 0))}`),
  extended: (width: number, height: number) =>
    bytes(
      `RIFF${four(0)}WEBPVP8X${four(0)}${four(0)}${little(four(width - 1)).slice(0, 3)}${little(four(height - 1)).slice(0, 3)}`,
    ),
};
const heic = bytes(`${four(24)}ftypheic`, 40);

type Image = readonly [type: string, data: string];
const block = ([media_type, data]: Image) => ({ type: "image", source: { type: "base64", media_type, data } });
const url = ([type, data]: Image) => `data:${type};base64,${data}`;

const anthropic = (...images: Image[]) =>
  listSentences(checkAnthropic([{ role: "user", content: images.map(block) }], { model: "claude-sonnet-4-5" }));
const chat = (...images: Image[]) =>
  listSentences(
    checkOpenAiChat([
      { role: "user", content: images.map((image) => ({ type: "image_url", image_url: { url: url(image) } })) },
    ]),
  );
const responses = (...images: Image[]) =>
  listSentences(
    checkOpenAiResponses([
      { role: "user", content: images.map((image) => ({ type: "input_image", image_url: url(image) })) },
    ]),
  );
const google = (...images: Image[]) =>
  listSentences(
    checkGoogle([{ role: "user", parts: images.map(([mimeType, data]) => ({ inlineData: { mimeType, data } })) }]),
  );

describe("images that every provider takes", () => {
  it.each([
    ["image/png", TINY_PNG],
    ["image/jpeg", jpeg(8000, 8000)],
    ["image/webp", webp.lossy(8000, 10)],
    ["image/webp", webp.lossless(8000, 10)],
    ["image/webp", webp.extended(8000, 10)],
  ])("%s", (type, data) => {
    for (const check of [anthropic, chat, responses, google]) expect(check([type, data])).toEqual([]);
  });

  it("ones that are elsewhere, whatever they are", () => {
    const source = { type: "url", url: "https://example.invalid/a.svg" };
    expect(checkAnthropic([{ role: "user", content: [{ type: "image", source }] }])).toEqual([]);
    const content = [{ type: "image_url", image_url: { url: "https://example.invalid/a.svg" } }];
    expect(checkOpenAiChat([{ role: "user", content }])).toEqual([]);
  });
});

describe("Anthropic refuses an image", () => {
  it.each([
    ["without bytes", ["image/png", ""], "(image/png) is empty; Anthropic takes none without bytes: take it out."],
    [
      "that is not base64",
      ["image/png", "%%%"],
      "(image/png) is not base64; Anthropic reads nothing else: encode it or take it out.",
    ],
    [
      "that is a data URL",
      ["image/png", `data:image/png;base64,${TINY_PNG}`],
      "(image/png) is not base64; Anthropic reads nothing else: encode it or take it out.",
    ],
    [
      "of another type",
      ["image/svg+xml", bytes("<svg/>")],
      "is of type image/svg+xml; Anthropic takes image/png, image/jpeg, image/gif or image/webp: convert it or take it out.",
    ],
    [
      "whose type is misspelled",
      ["image/jpg", jpeg(9, 9)],
      "is of type image/jpg; Anthropic takes image/png, image/jpeg, image/gif or image/webp: convert it or take it out.",
    ],
    [
      "of no type",
      ["", TINY_PNG],
      "is of type none; Anthropic takes image/png, image/jpeg, image/gif or image/webp: convert it or take it out.",
    ],
    [
      "under another type",
      ["image/jpeg", TINY_PNG],
      "is called image/jpeg, but its bytes are image/png; Anthropic wants the type of the bytes: call it image/png.",
    ],
    [
      "of another type under a good name",
      ["image/png", heic],
      "is called image/png, but its bytes are image/heic; Anthropic takes image/png, image/jpeg, image/gif or image/webp: convert it or take it out.",
    ],
    [
      "that is a picture of text",
      ["image/png", bytes('<?xml version="1.0"?>\n<svg xmlns="x"/>')],
      "is called image/png, but its bytes are image/svg+xml; Anthropic takes image/png, image/jpeg, image/gif or image/webp: convert it or take it out.",
    ],
    [
      "that is none",
      ["image/png", bytes("<html>404 Not Found</html>")],
      "(image/png) has the bytes of no image that is known; Anthropic takes image/png, image/jpeg, image/gif or image/webp: take it out.",
    ],
    [
      "that is cut off",
      ["image/png", bytes("\x89PNG\r\n\x1a\n\0\0")],
      "(image/png) is cut off before its size; Anthropic cannot read it: take it out.",
    ],
    [
      "that is too wide",
      ["image/png", png(8001, 10)],
      "(image/png) is 8001 by 10 pixels; Anthropic takes at most 8000 a side: scale it down or take it out.",
    ],
    [
      "that is too high",
      ["image/jpeg", jpeg(10, 9000)],
      "(image/jpeg) is 10 by 9000 pixels; Anthropic takes at most 8000 a side: scale it down or take it out.",
    ],
    [
      "that is too wide, as a GIF",
      ["image/gif", gif(9000, 1)],
      "(image/gif) is 9000 by 1 pixels; Anthropic takes at most 8000 a side: scale it down or take it out.",
    ],
    ["without pixels", ["image/png", png(0, 10)], "(image/png) is 0 by 10 pixels: take it out."],
    [
      "of too many bytes",
      ["image/png", png(9, 9, 3_932_163)],
      "(image/png) has 5,242,884 bytes in base64; Anthropic takes at most 5,242,880: scale it down or take it out.",
    ],
  ] as [string, Image, string][])("%s", (_, image, sentence) => {
    expect(anthropic(image)).toEqual([`A24 error 0.0: Image 1 of 1 ${sentence}`]);
  });

  it("of more than 2000 pixels, among more than 20", () => {
    const large: Image = ["image/png", png(2500, 20)];
    const small: Image = ["image/png", png(2000, 2000)];
    expect(anthropic(...Array<Image>(20).fill(large))).toEqual([]);
    expect(anthropic(...Array<Image>(20).fill(small), large)).toEqual([
      "A24 error 0.20: Image 21 of 21 (image/png) is 2500 by 20 pixels; Anthropic takes at most 2000 a side in a request with more than 20 images: scale it down, or send fewer.",
    ]);
  });

  it("beyond the 100th, or the 600th where the model has a larger context", () => {
    const message = { role: "user", content: Array.from({ length: 601 }, () => block(["image/png", TINY_PNG])) };
    expect(listSentences(checkAnthropic([message], { model: "claude-opus-4-8" }))).toEqual([
      "A24 error 0.600: There are 601 images; Anthropic takes at most 600 in a request: send fewer.",
    ]);
    expect(anthropic(...Array<Image>(101).fill(["image/png", TINY_PNG]))).toEqual([
      "A24 error 0.100: There are 101 images; Anthropic takes at most 100 in a request: send fewer.",
    ]);
  });

  it("where all together are too many bytes", () => {
    const large: Image = ["image/png", png(9, 9, 3_900_000)];
    expect(anthropic(...Array<Image>(7).fill(large))).toEqual([
      "A24 error 0.6: The images have more than 33,554,432 bytes of base64 here, the most that Anthropic takes in a request: send fewer or smaller ones.",
    ]);
  });

  it("inside the result of a tool", () => {
    const call = { type: "tool_use", id: "1", name: "shot", input: {} };
    const result = {
      type: "tool_result",
      tool_use_id: "1",
      content: [{ type: "text", text: "x" }, block(["image/png", ""])],
    };
    const found = checkAnthropic([
      { role: "user", content: "go" },
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ]);
    expect(found.map(({ rule, position }) => [rule, position])).toEqual([["A24", { message: 2, block: 0 }]]);
  });
});

describe("other providers", () => {
  it("take other types, and only warn of a name that is not the bytes'", () => {
    expect(google(["image/heic", heic])).toEqual([]);
    expect(google(["image/gif", gif(1, 1)])).toEqual([
      "G13 error 0.0: Image 1 of 1 is of type image/gif; Google takes image/png, image/jpeg, image/webp, image/heic or image/heif: convert it or take it out.",
    ]);
    expect(chat(["image/heic", heic])).toEqual([
      "C10 error 0.0: Image 1 of 1 is of type image/heic; OpenAI takes image/png, image/jpeg, image/gif or image/webp: convert it or take it out.",
    ]);
    expect(chat(["image/jpg", jpeg(1, 1)])).toEqual([]);
    expect(responses(["image/jpeg", TINY_PNG])).toEqual([
      "R11 warning 0.0: Image 1 of 1 is called image/jpeg, its bytes are image/png: call it that.",
    ]);
  });

  it("scale down themselves, but count", () => {
    expect([chat, responses, google].flatMap((check) => check(["image/png", png(9000, 10)]))).toEqual([]);
    expect(responses(...Array<Image>(501).fill(["image/png", TINY_PNG]))).toEqual([
      "R11 error 0.500: There are 501 images; OpenAI takes at most 500 in a request: send fewer.",
    ]);
  });

  it("refuse what is empty or no base64, in results of tools too", () => {
    const output = [{ type: "input_image", image_url: "data:image/png;base64," }];
    const items = [
      { type: "function_call", call_id: "1", name: "shot", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output },
    ];
    expect(listSentences(checkOpenAiResponses(items))).toEqual([
      "R11 error 1.0: Image 1 of 1 (image/png) is empty; OpenAI takes none without bytes: take it out.",
    ]);
    const functionResponse = {
      name: "shot",
      response: {},
      parts: [{ inline_data: { mime_type: "image/png", data: "?" } }],
    };
    const contents = [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "shot", args: {} } }] },
      { role: "user", parts: [{ functionResponse }] },
    ];
    expect(listSentences(checkGoogle(contents))).toEqual([
      "G13 error 2.0: Image 1 of 1 (image/png) is not base64; Google reads nothing else: encode it or take it out.",
    ]);
  });
});
