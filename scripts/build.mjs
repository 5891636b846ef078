// Builds dist/: rolldown bundles the command with the library, and the script of pages, each with the packages it uses;
// dts-bundle-generator writes the library's types as one file. `--no-types` leaves them out; `--out DIR` builds there, and
// `--modules FILE` lists the files of packages that the bundles hold; `--executable` bundles the command as one file and nothing
// else (for scripts/release.mjs).
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

const { values: given } = parseArgs({
  options: {
    "no-types": { type: "boolean", default: false },
    out: { type: "string", default: join(root, "dist") },
    modules: { type: "string" },
    executable: { type: "boolean", default: false },
  },
});
const dir = resolve(given.out);
if (!given["no-types"]) rmSync(dir, { recursive: true, force: true });
/** Files of packages that a bundle holds, as paths from the project's folder. */
const packaged = new Set();
const shared = {
  cwd: root,
  platform: "node",
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
/** Licence texts that must accompany the script of pages, also in exported files. */
const PAGE_LICENCES = `/*! ${["uplot", "highlight.js"].map((name) => `${name}\n${readFileSync(`${root}node_modules/${name}/LICENSE`, "utf8").trim()}`).join("\n\n")} */`;
if (given.executable) {
  const output = { file: join(dir, "executable.cjs"), format: "cjs", minify, codeSplitting: false };
  await bundle({ executable: "src/cli/executable.ts" }, output);
  process.exit();
}
const LIBRARY = "library.cjs";
// CommonJS loads faster than ES modules do.
const chunks = await bundle(
  { library: "src/index.ts", "cli/main": "src/cli/main.ts" },
  { dir, format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "chunks/[name]-[hash].cjs", minify },
  // What the command loads late, the library needs at once.
  { checks: { ineffectiveDynamicImport: false } },
);
writeFileSync(join(dir, "index.js"), moduleOf(chunks.find(({ fileName }) => fileName === LIBRARY)));
await bundle(
  { page: "browser/main.ts" },
  { file: `${dir}/browser/page.js`, format: "iife", minify: true, codeSplitting: false },
  { platform: "browser", transform: { target: "es2023" } },
);
finishPageScript(`${dir}/browser/page.js`);
if (!given["no-types"]) {
  const { generateDtsBundle } = await import("dts-bundle-generator");
  const entry = { filePath: `${root}src/index.ts`, output: { noBanner: true, exportReferencedTypes: false } };
  const [types] = generateDtsBundle([entry], { preferredConfigPath: `${root}tsconfig.json` });
  writeFileSync(join(dir, "index.d.ts"), types);
}
if (given.modules !== undefined) writeFileSync(given.modules, JSON.stringify([...packaged].sort()));

async function bundle(input, output, own = {}) {
  const build = await rolldown({ ...shared, input, ...own });
  const { output: files } = await build.write(output);
  const modules = files.flatMap((file) => (file.type === "chunk" ? Object.entries(file.modules) : []));
  for (const [id, { renderedLength }] of modules) {
    if (renderedLength > 0 && id.includes("node_modules")) packaged.add(relative(root, id));
  }
  await build.close();
  return files;
}

/** The library as an ES module, with names that an import can list. */
function moduleOf({ fileName, exports }) {
  return `import library from "./${fileName}";\nexport const { ${exports.join(", ")} } = library;\n`;
}

/** Says the licences; and what would end a script or begin a comment in HTML is written as strings and patterns may, too. */
function finishPageScript(path) {
  const script = readFileSync(path, "utf8").replace(/<(?=!--|\/?script)/gi, "\\x3c");
  writeFileSync(path, `${PAGE_LICENCES}\n${script}`);
}
