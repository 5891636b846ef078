// Builds dist/: rolldown bundles the command, the library and the script of pages; tsc writes the type declarations.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

if (!process.argv.includes("--no-types")) rmSync(`${root}dist`, { recursive: true, force: true });
const shared = {
  cwd: root,
  platform: "node",
  // Tables of 10 MB, and a price list that is worth updating by itself: they stay in their packages, read when asked for.
  external: [/^@pydantic\/genai-prices(?:\/|$)/],
  transform: { target: "node20", define: { JPG_VERSION: JSON.stringify(version) } },
  resolve: {
    alias: {
      debug: `${root}scripts/silent-debug.cjs`,
      // Its main file asks for the others when it runs, which a bundle cannot give it.
      "jsonc-parser": `${root}node_modules/jsonc-parser/lib/esm/main.js`,
      "@secretlint/profiler": `${root}scripts/silent-profiler.mjs`,
      "structured-source": `${root}scripts/no-locations.mjs`,
    },
  },
};
// Names stay: an error that a user reports should say where it came from.
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };
const dir = `${root}dist`;
/** Licence texts that must accompany the script of pages, also in exported files. */
const PAGE_LICENCES = `/*! ${["uplot", "highlight.js"].map((name) => `${name}\n${readFileSync(`${root}node_modules/${name}/LICENSE`, "utf8").trim()}`).join("\n\n")} */`;
await bundle(
  { index: "src/index.ts" },
  { dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "library/[name]-[hash].js", minify },
);
// CommonJS loads faster than ES modules do.
await bundle(
  { "cli/main": "src/cli/main.ts" },
  { dir, format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "chunks/[name]-[hash].cjs", minify },
);
await bundle(
  { page: "browser/main.ts" },
  { file: `${dir}/browser/page.js`, format: "iife", minify: true, codeSplitting: false },
  { platform: "browser", transform: { target: "es2023" } },
);
finishPageScript(`${dir}/browser/page.js`);
if (!process.argv.includes("--no-types")) {
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", "tsconfig.json"], {
    cwd: root,
    stdio: "inherit",
  });
}

async function bundle(input, output, own = {}) {
  const build = await rolldown({ ...shared, input, ...own });
  await build.write(output);
  await build.close();
}

/** Says the licences; and what would end a script or begin a comment in HTML is written as strings and patterns may, too. */
function finishPageScript(path) {
  const script = readFileSync(path, "utf8").replace(/<(?=!--|\/?script)/gi, "\\x3c");
  writeFileSync(path, `${PAGE_LICENCES}\n${script}`);
}
