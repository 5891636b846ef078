// @module-tag law
// Names of models that are files: what the settings must say, which names are none, what is known without running one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseSummaryModel } from "../../../src/app/models/choose-model.ts";
import { ggufConnection } from "../../../src/app/models/model-connection.ts";
import { modelFacts, openModel } from "../../../src/app/models/models.ts";
import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";
import { createTinyModel } from "../../helpers/tiny-model.ts";
import { createMemoryWorkspace, createTestRuntime } from "../../helpers/workspace.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const settings = (text: string): Config =>
  loadConfig({ user: { path: "config.toml", text }, conversation: [], overrides: [] }).config;

const withFolder = (more = ""): Config => settings(`[providers.gguf]\nfolder = "${folder.path}"\n${more}`);

const connect = (config: Config, model = "tiny.gguf") =>
  ggufConnection(createTestRuntime("/nowhere", { HOME: "/home/ada" }), config, { provider: "gguf", model });

function refusalOf(act: () => unknown): JpgError {
  try {
    act();
  } catch (error) {
    if (error instanceof JpgError) return error;
    throw error;
  }
  throw new Error("expected a JpgError");
}

describe("a gguf model's name", () => {
  it("is a file in the folder of the settings, which may begin with the home folder", () => {
    const config = settings('[providers.gguf]\nfolder = "~/models"\nlibrary = "/opt/llama"\ncontext_tokens = 9000\n');
    expect(connect(config)).toMatchObject({
      api: "gguf",
      urlSetting: "providers.gguf.folder",
      files: { folder: "/home/ada/models", library: "/opt/llama", contextTokens: 9000 },
    });
  });

  it("is run by the library in the user's data folder when the settings name no other", () => {
    const config = settings('[providers.gguf]\nfolder = "/models"\n');
    expect(connect(config).files?.library).toBe("/home/ada/.local/share/jpg/llama");
  });

  it("never leads out of the folder", () => {
    const odd = ["", ".gguf", "..", "../a.gguf", "a/b.gguf", "a\\\\b.gguf", "/etc/passwd", "tiny", "tiny.bin"];
    for (const model of odd) {
      expect(refusalOf(() => connect(withFolder(), model))).toMatchObject({ kind: "user", code: "bad_model_name" });
    }
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (name) => {
        const model = `${name}.gguf`;
        const isFile = name !== "" && !/[/\\]/.test(name);
        if (isFile) expect(connect(withFolder(), model).files?.folder).toBe(folder.path);
        else expect(refusalOf(() => connect(withFolder(), model)).code).toBe("bad_model_name");
      }),
    );
  });

  it("without a folder, or with one that begins nowhere, is an error that names the setting", () => {
    const none = refusalOf(() => connect(settings("")));
    expect(none).toMatchObject({ kind: "config", code: "no_folder", data: { setting: "providers.gguf.folder" } });
    expect(none.message).toContain("gguf/tiny.gguf");
    for (const key of ["folder", "library"]) {
      const config = settings(`[providers.gguf]\nfolder = "/models"\n${key === "folder" ? "" : 'library = "here"'}`);
      const relative = key === "folder" ? settings('[providers.gguf]\nfolder = "models"') : config;
      expect(refusalOf(() => connect(relative))).toMatchObject({
        kind: "config",
        code: "bad_folder",
        data: { setting: `providers.gguf.${key}` },
      });
    }
  });

  it("in a project's file counts only when that is trusted", () => {
    const project = {
      path: ".jpg.toml",
      text: '[providers.gguf]\nfolder = "/models"\nlibrary = "/evil"\n',
      trusted: false,
    };
    const { config } = loadConfig({ project, conversation: [], overrides: [] });
    expect(refusalOf(() => connect(config)).code).toBe("no_folder");
  });
});

describe("a gguf model", () => {
  it("has the window that its file tells, at most that of the settings; its price is not known", async () => {
    const workspace = await createMemoryWorkspace();
    writeFileSync(join(folder.path, "tiny.gguf"), createTinyModel({ pieces: ["Hi"], contextLength: 32_768 }));
    const unknown = { maxOutput: null, price: null };
    expect(await modelFacts(workspace, withFolder(), "gguf/tiny.gguf")).toEqual({ ...unknown, contextWindow: 32_768 });
    const small = await modelFacts(workspace, withFolder("context_tokens = 8192"), "gguf/tiny.gguf");
    expect(small.contextWindow).toBe(8192);
    for (const config of [withFolder(), settings("")]) {
      expect(await modelFacts(workspace, config, "gguf/gone.gguf")).toEqual({ ...unknown, contextWindow: null });
    }
  });

  it("is opened only with its library", async () => {
    const workspace = await createMemoryWorkspace();
    const config = withFolder(`library = "${folder.path}"`);
    await expect(openModel(workspace, config, "gguf/tiny.gguf")).rejects.toMatchObject({ code: "library_missing" });
  });

  it("writes summaries of its own conversations, and of others only when it is named", async () => {
    const workspace = await createMemoryWorkspace();
    const own = { conversationModel: "gguf/tiny.gguf" };
    expect(await chooseSummaryModel(workspace, { config: withFolder(), ...own })).toBe("gguf/tiny.gguf");
    expect(await chooseSummaryModel(workspace, { config: settings(""), ...own })).toBe("extractive");
    expect(await chooseSummaryModel(workspace, { config: withFolder() })).toBe("extractive");
    expect(await chooseSummaryModel(workspace, { config: settings(""), flag: "gguf/tiny.gguf" })).toBe(
      "gguf/tiny.gguf",
    );
  });
});
