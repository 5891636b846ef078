// Builds dist/: rolldown bundles the command, with one file for what is loaded together, and the library; tsc writes the type
// declarations. The command is CommonJS: bin/load-command.js keeps what V8 compiled of its files (docs/decisions/048).
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { asciiOnly } from "./ascii-only.mjs";
import { ownCopy } from "./own-copy.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

if (!process.argv.includes("--no-types")) rmSync(`${root}dist`, { recursive: true, force: true });
const shared = {
  cwd: root,
  platform: "node",
  // Tables of 10 MB, and a price list that is worth updating by itself: they stay in their packages, read when asked for.
  external: [/^@pydantic\/genai-prices(?:\/|$)/, "node-llama-cpp"],
  transform: { target: "node20", define: { JPG_VERSION: JSON.stringify(version) } },
  resolve: {
    alias: {
      debug: `${root}scripts/silent-debug.cjs`,
      "@secretlint/profiler": `${root}scripts/silent-profiler.mjs`,
      "structured-source": `${root}scripts/no-locations.mjs`,
    },
  },
  // Every command reads the settings, which take a third of zod.
  plugins: [ownCopy({ of: /^zod\b/, for: /\/src\/(config|app|store)\// })],
  preserveEntrySignatures: "allow-extension",
  // An import() of what is in a group stays one: its file is loaded when it is asked for.
  checks: { ineffectiveDynamicImport: false },
};
// Names stay: an error that a user reports should say where it came from.
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };
const dir = `${root}dist`;
/** What the licences of the libraries in the script of pages ask to be said wherever it stands: in exported files, too. */
const PAGE_LICENCES = `/*! ${["uplot", "highlight.js"].map((name) => `${name}\n${readFileSync(`${root}node_modules/${name}/LICENSE`, "utf8").trim()}`).join("\n\n")} */`;
await bundle(
  { index: "src/index.ts" },
  { dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "library/[name]-[hash].js", minify },
);
await bundle(
  { "cli/main": "src/cli/main.ts" },
  {
    dir,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    minify,
    codeSplitting: {
      // A group takes all that its modules import; what two groups need is in the first. A file costs node about a
      // millisecond, whatever its size, so that what a command loads anyway is worth one file.
      groups: [
        group("every-command", 9, [
          "src/cli/run.ts",
          "src/cli/parse-arguments.ts",
          "src/cli/frame/interrupt.ts",
          "src/cli/frame/command.ts",
          "src/app/conversation/git-program.ts",
          "src/app/conversation/workspace.ts",
          "src/app/conversation/journal-folder.ts",
          // What both the settings and the reading need, so that neither loads the other.
          "src/core/conversation/event.ts",
          "src/core/conversation/policy.ts",
        ]),
        // What lists and shows conversations, and asks nothing of the settings.
        group("reading", 8, [
          "src/app/conversation/log.ts",
          "src/app/conversation/turns.ts",
          "src/app/conversation/marks.ts",
          "src/app/conversation/counted-view.ts",
          "src/app/conversation/refresh-view.ts",
          "src/app/look/list.ts",
          "src/app/look/show.ts",
          "src/app/names/find-session.ts",
          "src/app/names/resolve-id.ts",
          "src/app/names/conversations.ts",
          "src/cli/frame/table.ts",
          "src/cli/render/quantity.ts",
          "src/core/compact/tool-call.ts",
          "src/core/conversation/marks.ts",
          "src/store/messages.ts",
        ]),
        // What both a query and a compaction need, the settings of somebody who has set nothing among it.
        group("models", 7, [
          "src/app/models/models.ts",
          "src/cli/render/compact.ts",
          "src/config/load-built-in.ts",
          "src/config/config.ts",
          "src/core/conversation/defined-tools.ts",
          "src/core/compact/automatic.ts",
        ]),
        // The schema, and what reads TOML.
        group("settings", 6, ["src/config/load.ts"]),
        // What compares views, and says what a compaction takes.
        group("planning", 5, [
          "src/app/conversation/fork-start.ts",
          "src/app/diff/diff-hunks.ts",
          "src/app/diff/diff-stat.ts",
          "src/app/diff/view-text.ts",
          "src/app/compact/compact-report.ts",
          "src/core/compact/grounding.ts",
          "src/core/conversation/bound-resolution.ts",
          "src/core/compact/event-ledger.ts",
        ]),
        group("compacting", 4, ["src/cli/commands/compact.ts"]),
        group("log", 3, ["src/cli/commands/log.ts"]),
        group("show", 2, ["src/cli/commands/show.ts"]),
        group("query", 1, ["src/cli/commands/query.ts"]),
      ],
    },
  },
  { plugins: [...shared.plugins, asciiOnly()] },
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

function group(name, priority, modules) {
  const paths = new Set(modules.map((path) => `${root}${path}`));
  return { name, priority, test: (id) => paths.has(id) };
}
