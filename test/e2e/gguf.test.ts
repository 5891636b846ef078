// jpg with a model that is a file: with a stand-in for the library that runs it, and with the real one where JPG_LLAMA_DIR names
// the folder in which node-llama-cpp was installed. The models are made here, some hundred KB, and say what a test wants.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { startJpg, writeUserConfig } from "../helpers/live-jpg.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { storeState } from "../helpers/run-jpg.ts";
import { writeText } from "../helpers/temp-repository.ts";
import { createTinyModel, type TinyModel } from "../helpers/tiny-model.ts";

const MCP_SERVER = fileURLToPath(new URL("../fixtures/mcp/server.mjs", import.meta.url));

/** Says "Tide is ", then "high." and stops; a request that holds "on and on" never ends. Chatty, and listens for signals itself. */
const STAND_IN = `
process.on("SIGINT", function own() {
  if (process.listenerCount("SIGINT") === 1) { process.off("SIGINT", own); process.kill(process.pid, "SIGINT"); }
});
export class InsufficientMemoryError extends Error {}
export class NoBinaryFoundError extends Error {}
export const resolveChatWrapper = () => ({
  generateContextState: ({ chatHistory }) => ({ contextText: { tokenize: () => [...JSON.stringify(chatHistory)] } }),
});
export class LlamaChat {
  async generateResponse(history, { signal, onResponseChunk }) {
    console.error("llama_decode: this is a note");
    const endless = JSON.stringify(history.at(-1)).includes("on and on");
    for (const text of ["Tide is ", "high."]) onResponseChunk({ type: undefined, text });
    while (endless && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    return { metadata: { stopReason: endless ? "abort" : "eogToken" } };
  }
}
export const getLlama = async () => ({
  cpuMathCores: 1,
  loadModel: async () => ({
    trainContextSize: 50000,
    tokenizer: null,
    createContext: async ({ contextSize }) => ({
      contextSize: contextSize.max,
      getSequence: () => ({ tokenMeter: { usedOutputTokens: 0 } }),
      dispose: async () => {},
    }),
  }),
});
`;

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanUp.splice(0).reverse()) clean();
});

function install(folder: string, program: string): void {
  writeText(join(folder, "node_modules/node-llama-cpp/package.json"), '{"type":"module","exports":"./main.js"}');
  writeText(join(folder, "node_modules/node-llama-cpp/main.js"), program);
}

/** A sandbox with a conversation, models, and settings that name them and the library. */
async function prepare(
  models: Readonly<Record<string, TinyModel>>,
  library?: string,
  more = "",
): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox(4, { process: true });
  cleanUp.push(sandbox.remove);
  const folder = join(sandbox.root, "models");
  mkdirSync(folder);
  for (const [name, model] of Object.entries(models)) writeFileSync(join(folder, name), createTinyModel(model));
  const place = library ?? join(sandbox.root, "library");
  if (library === undefined) install(place, STAND_IN);
  writeUserConfig(sandbox, `${more}\n[providers.gguf]\nfolder = "${folder}"\nlibrary = "${place}"\n`);
  return sandbox;
}

/** What is looked at in a report of `query --json`. */
interface Report {
  readonly text: string;
  readonly stop: string;
  readonly usage: { readonly input: number; readonly output: number };
  readonly tokens: { readonly window: number };
}

const TIDE = { pieces: ["Tide", " is", " high."] } as const;

describe("a gguf model", () => {
  it("answers, and goes on answering in its conversation; nothing but the answer is shown", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await prepare({ "tide.gguf": TIDE });
    const first = await sandbox.jpg(["query", "-m", "gguf/tide.gguf", "How is the tide?"]);
    expect(first).toEqual({ stdout: "Tide is high.\n", stderr: "", code: 0 });
    const next = await sandbox.json(["query", "And now?"]);
    expect(next).toMatchObject({
      model: "gguf/tide.gguf",
      text: "Tide is high.",
      price: null,
      tokens: { window: 2048 },
    });
  });

  it("is interrupted once to keep what came, whatever the library does with signals", { tags: ["slow"] }, async () => {
    const sandbox = await prepare({ "tide.gguf": TIDE });
    const live = startJpg(sandbox, ["query", "-m", "gguf/tide.gguf", "Tell me on and on"]);
    await live.untilShown("high.");
    live.child.kill("SIGINT");
    const { code, stderr } = await live.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining("what had arrived is kept as turn 4")]);
    expect((await sandbox.jpg(["print"])).stdout).toContain("Tide is high.");
  });

  it("takes no tools, and says so where somebody set some up", { tags: ["slow"] }, async () => {
    const server = `[mcp.servers.notes]\ncommand = "${process.execPath}"\nargs = ["${MCP_SERVER}"]\n`;
    const sandbox = await prepare({ "tide.gguf": TIDE }, undefined, server);
    const { stdout, stderr, code } = await sandbox.jpg(["query", "-m", "gguf/tide.gguf", "How is the tide?"]);
    expect([stdout, code]).toEqual(["Tide is high.\n", 0]);
    expect(stderr).toContain("gguf/tide.gguf takes no tools: it answers with text alone.");
  });

  it("and its library never come from the project", { tags: ["slow"] }, async () => {
    const sandbox = await prepare({ "tide.gguf": TIDE });
    const ran = join(sandbox.root, "ran");
    install(sandbox.project, `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");`);
    const before = storeState(sandbox);
    writeUserConfig(sandbox, `[providers.gguf]\nfolder = "${join(sandbox.root, "models")}"\n`);
    const missing = await sandbox.jpg(["query", "-m", "gguf/tide.gguf", "How is the tide?"]);
    expect(missing.code).toBe(4);
    expect(missing.stderr).toContain("A gguf model needs the library node-llama-cpp: it is installed neither in ");
    expect(missing.stderr).toContain(`hint: Install it: npm install --prefix ${sandbox.home}/.local/share/jpg/llama `);
    writeUserConfig(sandbox, "");
    writeText(
      join(sandbox.project, ".jpg.toml"),
      `[providers.gguf]\nfolder = "/models"\nlibrary = "${sandbox.project}"\n`,
    );
    const named = await sandbox.jpg(["compact", "--profile", "heavy", "-m", "gguf/tide.gguf"]);
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("providers.gguf.folder is not set")]);
    expect([storeState(sandbox), existsSync(ran)]).toEqual([before, false]);
  });
});

const real = process.env["JPG_LLAMA_DIR"];

/** The sections that a concise summary has. */
const SUMMARY = [
  "## KEY POINTS\n- the gauge at the pier was read\n\n",
  "## OPEN\n- nothing\n\n",
  "## CONTEXT\n- none\n",
];

describe.skipIf(real === undefined)(
  "a gguf model with the real library (needs JPG_LLAMA_DIR)",
  { timeout: 300_000 },
  () => {
    it("answers a query, and counts", async () => {
      const sandbox = await prepare({ "tide.gguf": { ...TIDE, contextLength: 32_768 } }, real);
      const asked = await sandbox.jpg(["query", "-m", "gguf/tide.gguf", "How is the tide?"]);
      expect(asked).toEqual({ stdout: "Tide is high.\n", stderr: "", code: 0 });
      const report = await sandbox.json<Report>(["query", "And now?"]);
      expect(report).toMatchObject({ text: "Tide is high.", stop: "complete", tokens: { window: 32_768 } });
      expect(report.usage.input).toBeGreaterThan(500);
      expect(report.usage.output).toBeGreaterThanOrEqual(3);
    });

    it("writes the summary of a compaction", async () => {
      const sandbox = await prepare({ "notes.gguf": { pieces: SUMMARY, contextLength: 131_072 } }, real);
      const args = ["compact", "--profile", "heavy", "--concise", "-m", "gguf/notes.gguf", "--keep", "1"];
      const { compaction } = await sandbox.json<{ readonly compaction: string }>(args);
      expect(await sandbox.json(["show", compaction])).toMatchObject({
        summary: {
          source: "generated",
          model: "gguf/notes.gguf",
          summary: expect.stringContaining("the gauge at the pier was read"),
        },
      });
    });

    it("is interrupted while it speaks", async () => {
      const sandbox = await prepare({ "tide.gguf": { ...TIDE, isEndless: true, contextLength: 32_768 } }, real);
      const live = startJpg(sandbox, ["query", "-m", "gguf/tide.gguf", "Tell me on and on"]);
      await live.untilShown("high.");
      live.child.kill("SIGINT");
      const { code, stderr } = await live.ended;
      expect([code, stderr]).toEqual([130, expect.stringContaining("what had arrived is kept as turn 4")]);
    });

    it("refuses what is too long, and an answer without end is cut", async () => {
      const models = {
        "small.gguf": { ...TIDE, contextLength: 256 },
        "endless.gguf": { ...TIDE, isEndless: true, contextLength: 400 },
      };
      const sandbox = await prepare(models, real);
      const tooLong = await sandbox.jpg(["query", "-m", "gguf/small.gguf", "How is the tide?"]);
      expect([tooLong.code, tooLong.stderr]).toEqual([
        4,
        expect.stringMatching(/too long .*\(\d+ tokens, the window has 256\)/),
      ]);
      const cut = await sandbox.json<Report>(["query", "--new", "-m", "gguf/endless.gguf", "Go on"]);
      expect(cut.stop).toBe("length");
      expect(cut.usage.input + cut.usage.output).toBe(400 - 64);
    });

    it("is quiet about a file that is broken, or a template that cannot be read", async () => {
      const sandbox = await prepare(
        { "odd.gguf": { ...TIDE, chatTemplate: "{% if %}{{ broken", contextLength: 32_768 } },
        real,
      );
      const odd = await sandbox.jpg(["query", "-m", "gguf/odd.gguf", "How is the tide?"]);
      expect(odd).toEqual({ stdout: "Tide is high.\n", stderr: "", code: 0 });
      const path = join(sandbox.root, "models", "odd.gguf");
      writeFileSync(path, readFileSync(path).subarray(0, 20_000));
      const cut = await sandbox.jpg(["query", "-m", "gguf/odd.gguf", "How is the tide?"]);
      expect([cut.code, cut.stdout, cut.stderr.split("\n")[0]]).toEqual([
        4,
        "",
        expect.stringMatching(/^error: gguf \(model odd\.gguf\) failed: /),
      ]);
    });
  },
);
