// npm run docs: writes docs/coverage.md from docs/statements.json, the statements of the documents that jpg grew out of, and
// from the tags of the tests that show them. A tag is a comment line of its own: covers: SEED "statement", word for word.
// `-` prints instead. Fails, and writes nothing, when a tag names no statement or a statement has neither tag nor reason.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const TAG = /^\s*\/\/ covers: (\S+) "(.+)"$/gm;

const INTRODUCTION = `# Coverage of the design documents

Every statement of the five documents that jpg grew out of, in short words: which tests show it, the code that they stand
beside, and what became of it. Made by \`npm run docs\` from [statements.json](statements.json) and the tags in the tests
(\`// covers: 064 "…"\`). Status:

- \`done\`: built;
- \`models\`: open, for it wants experiments with real models, which no test on loopback replaces;
- \`departs: …\`: jpg does otherwise on purpose, with the reason; what the row says instead is done;
- \`context\`: motivation or a non-goal, nothing to build.`;

/** Files that may carry tags: tests, and benchmarks for what only a figure shows. */
function listTagged() {
  const below = (folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${name}`);
  return [...below("test").filter((path) => path.endsWith(".test.ts")), ...below("bench")]
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .sort();
}

/** The files that carry a tag, by `SEED statement`. */
function readTags() {
  const tags = new Map();
  for (const path of listTagged()) {
    for (const [, seed, statement] of readFileSync(join(ROOT, path), "utf8").matchAll(TAG)) {
      const name = `${seed} ${statement}`;
      tags.set(name, [...(tags.get(name) ?? []), path]);
    }
  }
  return tags;
}

/** Statements of all documents, one after the other; each has its tests and its status. */
function joinTags(documents, tags) {
  const rows = documents.flatMap(({ seed, sections }) =>
    sections.flatMap(({ title, statements }) =>
      statements.map((entry) => {
        const { text, departs, status } = typeof entry === "string" ? { text: entry } : entry;
        const tests = [...new Set(tags.get(`${seed} ${text}`))];
        return {
          seed,
          section: title,
          text,
          tests,
          status: departs === undefined ? (status ?? "done") : `departs: ${departs}`,
        };
      }),
    ),
  );
  const known = new Set(rows.map(({ seed, text }) => `${seed} ${text}`));
  const wrong = [
    ...[...tags]
      .filter(([name]) => !known.has(name))
      .map(([name, paths]) => `${paths[0]}: no statement is called ${name}`),
    ...rows
      .filter(({ status, tests }) => status === "done" && tests.length === 0)
      .map(({ seed, text }) => `docs/statements.json: no test is tagged // covers: ${seed} "${text}"`),
  ];
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  return rows;
}

function renderRow({ text, tests, status }) {
  const code = tests
    .map((path) => path.replace(/^test\//, "src/").replace(/\.test\.ts$/, ".ts"))
    .filter((path) => path.startsWith("src/") && existsSync(join(ROOT, path)));
  return `| ${[text, listPaths(code), listPaths(tests), status].map(escapeBars).join(" | ")} |`;
}

function listPaths(paths) {
  return paths.length === 0 ? "–" : paths.map((path) => `\`${path}\``).join(", ");
}

function escapeBars(cell) {
  return cell.replaceAll("|", "\\|");
}

function renderDocument({ seed, title, note, sections }, rows) {
  const parts = sections.map((section) => {
    const own = rows.filter((row) => row.seed === seed && row.section === section.title).map(renderRow);
    return [`### ${section.title}`, ["| statement | code | test | status |", "| - | - | - | - |", ...own].join("\n")];
  });
  return [`## ${title}`, ...(note === undefined ? [] : [note]), ...parts.flat()];
}

function renderUntested(rows) {
  const untested = rows.filter(({ tests }) => tests.length === 0);
  return ["## Without a test", untested.map(({ seed, text, status }) => `- ${seed}: ${text} (${status})`).join("\n")];
}

function renderPage() {
  const documents = JSON.parse(readFileSync(join(ROOT, "docs/statements.json"), "utf8"));
  const rows = joinTags(documents, readTags());
  const count = (word) => `${rows.filter(({ status }) => status.startsWith(word)).length} ${word}`;
  const counts = `${rows.length} statements: ${["done", "models", "departs", "context"].map(count).join(", ")}.`;
  const all = documents.flatMap((document) => renderDocument(document, rows));
  return `${[INTRODUCTION, counts, ...all, ...renderUntested(rows)].join("\n\n")}\n`;
}

const page = renderPage();
if (process.argv.includes("-")) process.stdout.write(page);
else writeFileSync(join(ROOT, "docs/coverage.md"), page);
