// @module-tag law
// What a request is made of: words, files that they name, standard input.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestContent } from "../../../src/app/talk/request-content.ts";
import { wordsOfContent } from "../../../src/core/conversation/event.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from("rest of the image")]);

beforeAll(() => {
  folder = createTempFolder();
  mkdirSync(join(folder.path, "src"));
  writeFileSync(join(folder.path, "src/a.ts"), "const a = 1;\n");
  writeFileSync(join(folder.path, "a file.txt"), "blanks");
  writeFileSync(join(folder.path, "odd."), "a dot");
  writeFileSync(join(folder.path, "pier.png"), PNG);
  writeFileSync(join(folder.path, "tide.pdf"), "%PDF-1.7 …");
  writeFileSync(join(folder.path, "blob.bin"), Buffer.from([0x66, 0, 0xff]));
  writeFileSync(join(folder.path, "latin1.txt"), Buffer.from([0x67, 0xfc, 0x6e]));
  writeFileSync(join(folder.path, "large.txt"), Buffer.alloc(2 * 1024 * 1024 + 1, 0x61));
});

afterAll(() => folder.remove());

const content = (text: string, more: { files?: string[]; stdin?: string | Uint8Array } = {}) =>
  requestContent(folder.path, {
    text,
    files: more.files ?? [],
    stdin: more.stdin === undefined ? null : Buffer.from(more.stdin as string),
  });
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing thrown",
    (error: { code?: string }) => error.code,
  );

describe("words", () => {
  it("alone are the request, as typed", async () => {
    expect(await content("  How high is it?\n")).toBe("How high is it?");
    await fc.assert(
      fc.asyncProperty(
        fc.string().filter((text) => !/[@\\]/.test(text) && text.trim() !== ""),
        async (text) => {
          expect(await content(text)).toBe(text.trim());
        },
      ),
    );
  });

  it("name files at the start of a word, and stay as they were", async () => {
    expect(await content('Compare @src/a.ts with (@"a file.txt").')).toEqual([
      { type: "text", text: 'Compare @src/a.ts with (@"a file.txt").' },
      { type: "attachment", name: "src/a.ts", text: "const a = 1;\n" },
      { type: "attachment", name: "a file.txt", text: "blanks" },
    ]);
  });

  it("end a sentence after a file's name, unless the mark is part of it", async () => {
    expect(await content("See @src/a.ts, and @odd.")).toMatchObject([{}, { name: "src/a.ts" }, { name: "odd." }]);
  });

  it("name nothing inside a word, and after a backslash", async () => {
    expect(await content("mail ada@example.com about \\@anthropic-ai/sdk")).toBe(
      "mail ada@example.com about @anthropic-ai/sdk",
    );
  });

  it("with an @ that name no file are text", async () => {
    for (const text of ["ask @ada", "use @angular/core, or @src", '@"no file" and @', "@"])
      expect(await content(text)).toBe(text);
  });

  it("that are empty ask nothing", async () => {
    expect(await codeOf(content("  "))).toBe("empty_request");
    expect(await codeOf(content("", { stdin: "\n" }))).toBe("empty_request");
  });
});

describe("files", () => {
  it("are what their first bytes say", async () => {
    expect(await content("Look", { files: ["pier.png", "tide.pdf"] })).toEqual([
      { type: "text", text: "Look" },
      { type: "image", media_type: "image/png", data: PNG.toString("base64") },
      {
        type: "document",
        media_type: "application/pdf",
        data: Buffer.from("%PDF-1.7 …").toString("base64"),
        title: "tide.pdf",
      },
    ]);
  });

  it("are refused by name when they are missing, folders, too large or of no known kind", async () => {
    expect(await codeOf(content("see", { files: ["nowhere.txt"] }))).toBe("missing_file");
    expect(await codeOf(content("see", { files: ["src"] }))).toBe("not_a_file");
    expect(await codeOf(content("see @large.txt"))).toBe("file_too_large");
    expect(await codeOf(content("see", { files: ["large.txt"] }))).toBe("file_too_large");
    expect(await codeOf(content("see", { files: ["blob.bin"] }))).toBe("binary_file");
    expect(await codeOf(content("see", { files: ["latin1.txt"] }))).toBe("binary_file");
  });
});

describe("standard input", () => {
  it("is the request when there are no words", async () => {
    expect(await content("", { stdin: "What is this?\n@src/a.ts" })).toBe("What is this?\n@src/a.ts");
  });

  it("follows the words otherwise", async () => {
    expect(await content("Review", { stdin: "+ a line" })).toEqual([
      { type: "text", text: "Review" },
      { type: "attachment", name: "standard input", text: "+ a line" },
    ]);
  });

  it("may be an image", async () => {
    expect(await content("", { stdin: PNG })).toMatchObject([{ type: "image", media_type: "image/png" }]);
  });
});

describe("a file that is named twice", () => {
  it("is attached once, however it is named", async () => {
    const twice = await content("look at @src/a.ts", { files: ["src/a.ts", "./src/a.ts", "pier.png"] });
    expect((Array.isArray(twice) ? twice : []).map(({ type }) => type)).toEqual([
      "text",
      "attachment",
      expect.any(String),
    ]);
  });

  it("gives its name for a title where nothing was typed, never what it holds", async () => {
    expect(wordsOfContent(await content("", { files: ["src/a.ts"] }))).toBe("src/a.ts");
    expect(wordsOfContent(await content("why one?", { files: ["src/a.ts"] }))).toBe("why one?");
    expect(wordsOfContent(await content("just words"))).toBe("just words");
  });
});
