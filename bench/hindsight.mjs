// What of a conversation was needed after it was compacted, told in hindsight from real sessions (docs/COMPACTION.md). Prints the
// tables to standard error. Sessions whose SHA-256 begins with 0 to 3 are held out: what is tuned is tuned on the others, and
// --hold-out shows how it does on these. --write puts tables and plot into docs/.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRow, skipWithoutCorpus } from "./row.mjs";
import { lastStates } from "./sessions.mjs";

const DOCS = fileURLToPath(new URL("../docs/", import.meta.url));
const HELD_OUT = /^[0-3]/;
/** Rows that leave more than this, percent, or nothing, have no point in the plot. */
const MOST_PLOTTED = 99.5;

/**
 * Measures hindsight over all sessions of the corpus that are long enough, whatever agent they are of: those that are held out,
 * the others, or without `holdOut` both.
 */
export async function benchHindsight(sandbox, { cycleSizes, cycles: most, holdOut, write, corpus }) {
  const files = listFiles(corpus);
  if (files === null) return [skipWithoutCorpus("hindsight", "what of a conversation was needed", corpus)];
  if (holdOut && write) throw new Error("--write is for the sessions that are tuned on: leave --hold-out out");
  const library = await sandbox.hindsight();
  const sessions = files
    .filter(({ isHeldOut }) => holdOut === undefined || isHeldOut === holdOut)
    .map(({ path }) => library.readSession(basename(path), readFileSync(path)))
    .filter((session) => session !== null);
  const result = {
    ...library.measureHindsight(sessions),
    cycles: library.measureCycles(sessions, { sizes: cycleSizes, most }),
  };
  const texts = renderTexts(library, result);
  console.error(`${Object.values(texts).join("\n\n")}\n`);
  if (write) writeDocs(texts, library.renderPlot(plotOf(result)));
  return listRows(library, { ...result, size: cycleSizes.at(-1), most }, holdOut ? "hindsight-hold-out" : "hindsight");
}

/** The last state of every session file, and whether it is held out; null without a corpus. */
function listFiles(corpus) {
  if (!existsSync(corpus)) return null;
  const paths = readdirSync(corpus, { recursive: true })
    .map((path) => join(corpus, path))
    .filter((path) => /\.(?:jsonl?|md)$/.test(path) && statSync(path).isFile())
    .sort();
  return lastStates(paths).map((path) => {
    const digest = createHash("sha256").update(readFileSync(path)).digest("hex");
    return { path, isHeldOut: HELD_OUT.test(digest) };
  });
}

/** @param {import("./sandbox.mjs").Hindsight} library */
function renderTexts(library, result) {
  const { rows, own, cycles, sessions, facts, needles } = result;
  const cuts = sessions.reduce((sum, session) => sum + session.cuts, 0);
  return {
    made: `${library.renderSessions(result)}; ${cuts} cuts with ${facts} needed facts, ${needles} of them needles.`,
    rows: library.renderFigures(rows),
    own:
      own.cuts === 0
        ? "None."
        : `${own.cuts} compactions, ${own.facts} needed facts.\n\n${library.renderFigures(own.rows)}`,
    cycles: library.renderCycles(cycles),
  };
}

function plotOf({ rows, masking }) {
  const points = rows.filter(({ size }) => size > 0 && size < MOST_PLOTTED);
  const groups = [...new Set(points.map(({ group }) => group))];
  return { points, groups, line: { name: "masking, any number", points: masking } };
}

/** Replaces the text between the marks of each page, and the plot. */
function writeDocs(texts, plot) {
  const page = join(DOCS, "COMPACTION.md");
  let text = readFileSync(page, "utf8");
  for (const [name, table] of Object.entries(texts)) {
    const [from, to] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`];
    const [start, end] = [text.indexOf(from), text.indexOf(to)];
    if (start < 0 || end < start) throw new Error(`${page} has no place for ${name}: expected ${from}…${to}`);
    text = `${text.slice(0, start + from.length)}${table}${text.slice(end)}`;
  }
  writeFileSync(page, text);
  writeFileSync(join(DOCS, "compaction.svg"), plot);
}

/** @param {import("./sandbox.mjs").Hindsight} library */
function listRows(library, { rows, own, cycles, sessions, size: largest, most }, id) {
  const problems = [...library.findInsane(rows), ...(own.cuts === 0 ? [] : library.findInsane(own.rows))];
  const row = (name) => rows.find((candidate) => candidate.name === name);
  const info = (key, name, value, unit, detail) => createRow(`${id}-${key}`, name, { value, unit, detail });
  const last = cycles.find(({ name, size }) => name === "auto" && size === largest)?.cycles ?? [];
  const auto = row("auto");
  return [
    createRow(`${id}-sane`, "rows of hindsight that break an invariant", {
      value: problems.length,
      unit: "",
      limit: { atMost: 0 },
      detail: problems.join("; ") || `raw 100 %, nothing 0 %, no view above 100 %; ${sessions.length} sessions`,
    }),
    info("size", "size of the view under auto", auto.size, "%", "tokens of the conversation before the cut"),
    info("lift", "lift of auto over random drops of that size", auto.lift, "points", spread(auto)),
    info("needles", "the same of facts that occurred in one place only", auto.needleLift, "points", ""),
    info("context", "facts in context under auto, above masking at that size", auto.aboveMasking, "points", ""),
    info(
      "recovery",
      "hidden facts that jpg search --rank finds among the first five",
      auto.recoveryRanked,
      "%",
      recoveries(auto),
    ),
    info(
      "floor",
      `cycles of auto at ${largest / 1000}k until it no longer gets the view below that`,
      last.length,
      "",
      `of ${most}`,
    ),
  ];
}

function recoveries({ recovery, recoveryByPhrase }) {
  return `without it, by the rarest word around the later use ${recovery.toFixed(1)} %, by the phrase before it ${recoveryByPhrase.toFixed(1)} %`;
}

function spread({ liftSpread: [low, high] }) {
  return `nine of ten draws of the sessions between ${low.toFixed(1)} and ${high.toFixed(1)}`;
}
