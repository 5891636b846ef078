// Import directions between the rooms of src (docs/ARCHITECTURE.md). Run: npm run deps
const error = (name, comment, from, to) => ({ name, severity: "error", comment, from, to });

/** The rooms of each tree by level, lowest first; `.` is the tree's own files. docs/ARCHITECTURE.md says what each holds. */
export const LEVELS = {
  core: [["."], ["conversation"], ["look", "model"], ["compact", "secrets"]],
  store: [["."], ["git"], ["embedded"]],
  app: [
    ["conversation"],
    ["models"],
    ["sessions"],
    ["names"],
    ["diff"],
    ["compact"],
    ["import", "look"],
    ["overview"],
    ["integrity"],
    ["share"],
    ["manage"],
    ["live", "talk"],
  ],
  cli: [["frame"], ["render"], ["chat"], ["commands"], ["."]],
  mcp: [["tools"], ["."]],
  web: [["pages"], ["."]],
};

/** The rules of a tree, all of one name: a room imports itself and lower levels, and every file is in a room with a level. */
function levelRules(tree, levels) {
  const name = `levels-of-${tree}`;
  const file = (room) => `^src/${tree}/${room === "." ? "[^/]+$" : `${room}/`}`;
  const within = levels.map((level, at) =>
    level.map((room) =>
      error(
        name,
        `src/${tree}/${room} imports lower levels only (docs/ARCHITECTURE.md).`,
        { path: file(room) },
        { path: `^src/${tree}/`, pathNot: [room, ...levels.slice(0, at).flat()].map(file) },
      ),
    ),
  );
  const known = levels.flat().map(file);
  const lost = error(name, "Every file is in a room with a level.", { path: `^src/${tree}/`, pathNot: known }, {});
  return [...within.flat(), lost];
}

/** Folders of src/formats that are no agent's: requests of providers, and texts for people and programs. */
const NO_AGENTS = ["anthropic", "google", "jsonl", "markdown", "openai-chat", "openai-responses", "request-body"];

export default {
  forbidden: [
    ...Object.entries(LEVELS).flatMap(([tree, levels]) => levelRules(tree, levels)),
    error("no-circular", "Two files that need each other are one unit, or a third is missing.", {}, { circular: true }),
    error(
      "core-is-pure",
      "core imports core: no node:, no npm, no other folder.",
      { path: "^src/core/" },
      { pathNot: "^src/core/" },
    ),
    error(
      "formats-are-pure",
      "A format turns text into events and back; app opens the files.",
      { path: "^src/formats/" },
      { pathNot: "^src/(core|formats)/" },
    ),
    error(
      "agents-through-the-registry",
      "Ask src/formats/agents.ts: whoever names an agent has to be changed for the next one.",
      { path: "^src/(?!formats/)|^src/formats/[^/]+$", pathNot: "^src/formats/agents[.]ts$" },
      { path: "^src/formats/([^/]+)/", pathNot: `^src/formats/(${NO_AGENTS.join("|")})/` },
    ),
    error(
      "adapters-know-only-core",
      "store, llm and config know neither each other nor app.",
      { path: "^src/(store|llm|config)/" },
      { path: "^src/", pathNot: ["^src/core/", "^src/$1/"] },
    ),
    error(
      "stores-through-their-interface",
      "Ask the store; what comes before there is one stands in engine.ts, what only git does in git-program.ts.",
      { path: "^src/", pathNot: "^src/(store/|app/conversation/(engine|git-program)[.]ts$)" },
      { path: "^src/store/(git|embedded)/" },
    ),
    error(
      "app-knows-no-front-end",
      "Return a value; the front end shows it.",
      { path: "^src/app/" },
      { path: "^src/(cli|library|mcp|web)/" },
    ),
    error(
      "front-ends-go-through-app",
      "Only cli/main.ts wires adapters.",
      { path: "^src/(cli|library|mcp|web)/", pathNot: "^src/cli/main[.]ts$" },
      { path: "^src/(store|llm|formats|config)/" },
    ),
    error(
      "front-ends-are-siblings",
      "Move the shared part to app.",
      { path: "^src/(cli|library|mcp|web)/", pathNot: "^src/cli/main[.]ts$" },
      { path: "^src/(cli|library|mcp|web)/", pathNot: "^src/$1/" },
    ),
    error(
      "only-git-process-spawns",
      "Describe the command in git-command.ts.",
      {
        path: "^src/",
        pathNot: "^src/(store/(git/git-process|running-process)|app/models/external-process)[.]ts$",
      },
      { path: "^(node:)?child_process$" },
    ),
    error(
      "only-porcelain-asks-simple-git",
      "Call runPorcelain: one environment, one form of error.",
      { path: "^src/", pathNot: "^src/store/git/porcelain[.]ts$" },
      { path: "node_modules/simple-git/" },
    ),
    error(
      "src-not-to-test",
      "Production code knows neither its tests nor its benchmarks.",
      { path: "^src/" },
      { path: "^(?:test|bench)/" },
    ),
    error(
      "no-dev-dependency-in-src",
      "It would be missing after an install.",
      { path: "^src/" },
      { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    ),
    error("no-orphans", "Use it or remove it.", { orphan: true, path: "^src/", pathNot: "^src/index[.]ts$" }, {}),
    error("not-to-unresolvable", "The import resolves to nothing.", {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs", ".json"],
    },
  },
};
