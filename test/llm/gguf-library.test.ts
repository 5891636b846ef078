// Where the library that runs GGUF files is looked for; what is installed here is a stand-in of two lines.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { JpgError } from "../../src/core/errors.ts";
import { createClient } from "../../src/llm/create-client.ts";
import { findLlamaLibrary, loadLlamaLibrary } from "../../src/llm/gguf-library.ts";
import { failureOf } from "../contract/llm-under-test.ts";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

function install(program: string, place = folder.path): string {
  const path = join(place, "node_modules", "node-llama-cpp");
  writeText(join(path, "package.json"), '{"name":"node-llama-cpp","type":"module","exports":"./main.js"}');
  writeText(join(path, "main.js"), program);
  return join(path, "main.js");
}

describe("the library for gguf models", () => {
  it("is found in the user's folder, and what is found is not run", async () => {
    const path = install("export const answer = 42; globalThis.ran = true;");
    expect(findLlamaLibrary(folder.path)).toBe(path);
    expect(globalThis).not.toHaveProperty("ran");
    expect(await loadLlamaLibrary(path, folder.path)).toMatchObject({ answer: 42 });
  });

  it("that is missing is told as a client is made, with the command that installs it", async () => {
    const library = join(folder.path, "it's here");
    const files = { folder: folder.path, library };
    const connection = { provider: "gguf", api: "gguf", keySetting: "", urlSetting: "", files } as const;
    const error = await failureOf(createClient(connection));
    expect(error.code).toBe("library_missing");
    expect(error.message).toContain(`installed neither in ${library} nor beside jpg`);
    expect(error.hints[0]).toContain(`npm install --prefix '${library.replace("'", "'\\''")}' `);
    expect(error.hints[0]).toMatch(/ (--omit=optional node-llama-cpp@3 @node-llama-cpp\/[\w-]+@3|node-llama-cpp@3)$/);
  });

  it("is not looked for in the current directory", () => {
    install("");
    const before = process.cwd();
    process.chdir(folder.path);
    try {
      expect(() => findLlamaLibrary(join(before, "nowhere"))).toThrow(JpgError);
    } finally {
      process.chdir(before);
    }
  });

  it("that cannot be loaded is told with the reason", async () => {
    const path = install('throw new Error("built for another Node\\nat main")');
    const error = await failureOf(loadLlamaLibrary(path, folder.path));
    expect(error).toMatchObject({ code: "library_missing" });
    expect(error.message).toMatch(/main\.js cannot be loaded: built for another Node at main\.$/);
  });
});
