// Builds dist/: esbuild bundles the command and the library with code splitting, tsc writes the type declarations.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

if (!process.argv.includes("--no-types")) rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    index: "src/index.ts",
    "cli/main": "src/cli/main.ts",
    "store/blob-worker": "src/store/blob-worker.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // Tables of 10 MB, and a price list that is worth updating by itself: they stay in their packages, read when asked for.
  external: ["ai-tokenizer", "@pydantic/genai-prices"],
  chunkNames: "chunks/[name]-[hash]",
  define: { JPG_VERSION: JSON.stringify(version) },
  // Bundled CommonJS packages call require for Node's own modules.
  banner: {
    js: 'import { createRequire as jpgCreateRequire } from "node:module"; const require = jpgCreateRequire(import.meta.url);',
  },
  logLevel: "warning",
});
if (!process.argv.includes("--no-types")) {
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", "tsconfig.json"], {
    cwd: root,
    stdio: "inherit",
  });
}
