// Builds dist/: esbuild bundles the command and the library with code splitting, what is loaded together is joined, tsc writes
// the type declarations.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { joinChunks } from "./join-chunks.mjs";
import { ownCopy } from "./own-copy.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

if (!process.argv.includes("--no-types")) rmSync(`${root}dist`, { recursive: true, force: true });
const options = {
  format: "esm",
  platform: "node",
  target: "node20",
  // Names stay: an error that a user reports should say where it came from.
  minifyWhitespace: true,
  minifySyntax: true,
  // Tables of 10 MB, and a price list that is worth updating by itself: they stay in their packages, read when asked for.
  external: ["ai-tokenizer", "@pydantic/genai-prices"],
  logLevel: "warning",
};
const { metafile } = await build({
  ...options,
  absWorkingDir: root,
  entryPoints: {
    index: "src/index.ts",
    "cli/main": "src/cli/main.ts",
    "store/blob-worker": "src/store/native/packs/blob-worker.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  metafile: true,
  chunkNames: "chunks/[name]-[hash]",
  define: { JPG_VERSION: JSON.stringify(version) },
  // Every command reads the settings, which take a third of zod.
  plugins: [ownCopy({ of: /^zod\b/, for: /\/src\/config\// })],
});
await joinChunks({
  root,
  outdir: `${root}dist`,
  outputs: metafile.outputs,
  groups: [
    {
      name: "every-command",
      modules: [
        "src/cli/create-runtime.ts",
        "src/cli/run-command-line.ts",
        "src/cli/parse-arguments.ts",
        "src/cli/frame/workspace-options.ts",
        "src/app/workspace/workspace.ts",
      ],
    },
    { name: "settings", modules: ["src/config/load-config.ts"] },
    { name: "query", modules: ["src/cli/commands/query.ts"] },
  ],
  options: {
    ...options,
    // Bundled CommonJS packages call require for Node's own modules.
    banner: {
      js: 'import { createRequire as jpgCreateRequire } from "node:module"; const require = jpgCreateRequire(import.meta.url);',
    },
  },
});
if (!process.argv.includes("--no-types")) {
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", "tsconfig.json"], {
    cwd: root,
    stdio: "inherit",
  });
}
