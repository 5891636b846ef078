// What the strategies are worth on real sessions: sizes of views, what stays visible, simulated cost with a prompt cache, and
// the time that planning takes. Prints two tables of all sessions to standard error.
import { createRow, formatNumber, skipWithoutCorpus } from "./row.mjs";
import { largest } from "./sessions.mjs";
import { findLost, measureViews, simulateCosts } from "./strategies-effects.mjs";
import { benchPlanning } from "./strategies-planning.mjs";
import { loadCounting, readCodingSessions } from "./strategies-sessions.mjs";

/** Lost things that a row names. */
const MOST_NAMED = 5;

/** Measures the strategies. Sessions of fewer raw tokens than `costlyTokens` are not asked to become cheaper. */
export async function benchStrategies(sandbox, { runs, costlyTokens, corpus }) {
  const library = await loadCounting(sandbox);
  const sessions = readCodingSessions(library, corpus);
  if (sessions === null) return [skipWithoutCorpus("strategies", "the strategies on real sessions", corpus)];
  const files = [];
  for (const session of sessions) {
    const { sizes, lost, lostByAgent } = await measureViews(library, session);
    const { requests, costs, before } = await simulateCosts(library, session);
    const lostInBatches = findLost(library, before, { shown: costs.auto.last });
    files.push({ name: session.name, sizes, lost, lostByAgent, lostInBatches, requests, costs });
  }
  console.error(`${renderSizes(files)}\n\n${renderCosts(files)}\n`);
  return [
    ...sizeRows(files),
    ...lostRows(files),
    ...costRows(files, costlyTokens),
    ...(await benchPlanning(sandbox, largestOf(sessions), { runs })),
  ];
}

function largestOf(sessions) {
  const path = largest(sessions.map((session) => session.path));
  return sessions.find((session) => session.path === path);
}

function sizeRows(files) {
  const raw = total(files, ({ sizes }) => sizes.raw);
  const all = Object.keys(files[0].sizes)
    .filter((name) => name !== "raw")
    .map((name) => {
      const left = total(files, ({ sizes }) => sizes[name]);
      return createRow(`strategies-${toId(name)}`, `share of tokens cut by ${name}`, {
        value: 1 - left / raw,
        unit: "",
        detail: `${kilo(raw)} to ${kilo(left)} in ${files.length} sessions`,
        ...(name === "auto" ? { limit: { atLeast: 0.6 } } : {}),
      });
    });
  const each = files.map(({ name, sizes }) =>
    createRow(`strategies-auto-${name}`, "the same by auto, one session", {
      value: 1 - sizes.auto / sizes.raw,
      unit: "",
      detail: `${kilo(sizes.raw)} to ${kilo(sizes.auto)}; agent itself ${kilo(sizes["agent itself"])}`,
    }),
  );
  return [...all, ...each];
}

const KEPT = { requests: "requests of the user", paths: "calls whose modified path is", pins: "pinned events" };

function lostRows(files) {
  return Object.entries(KEPT).map(([kind, what]) => {
    const once = files.flatMap(({ lost }) => lost[kind]);
    const inBatches = files.flatMap(({ lostInBatches }) => lostInBatches[kind]);
    const words = [...once, ...inBatches].slice(0, MOST_NAMED);
    return createRow(`strategies-lost-${kind}`, `${what} no longer visible under auto`, {
      value: once.length + inBatches.length,
      unit: "",
      limit: { atMost: 0 },
      detail: [
        `of ${total(files, ({ lost }) => lost.of[kind])}${kind === "paths" ? " different paths" : ""}`,
        `${once.length} when run once, ${inBatches.length} in batches`,
        `the agent's own compactions lose ${total(files, ({ lostByAgent }) => lostByAgent[kind].length)}`,
        ...words,
      ].join("; "),
    });
  });
}

function costRows(files, costlyTokens) {
  const costly = files.filter(({ sizes }) => sizes.raw > costlyTokens);
  const shares = costly.map((file) => ({ name: file.name, share: costShare([file], "auto") }));
  const rest = Object.keys(files[0].costs).filter((name) => name !== "none");
  return [
    createRow(
      "cost-auto",
      `cost of auto in batches ÷ no compaction, worst session above ${costlyTokens / 1000}k tokens`,
      {
        value: Math.max(...shares.map(({ share }) => share)),
        limit: { atMost: 0.999 },
        detail: shares.map(({ name, share }) => `${name} ${share.toFixed(3)}`).join("; "),
      },
    ),
    ...rest.map((name) =>
      createRow(`cost-total-${toId(name)}`, `cost of ${name} ÷ no compaction, all sessions together`, {
        value: costShare(files, name),
        detail: `above ${costlyTokens / 1000}k tokens ${costShare(costly, name).toFixed(3)}; breaks of the cache ${total(files, ({ costs }) => costs[name].breaks)} in ${total(files, ({ requests }) => requests)} requests`,
      }),
    ),
  ];
}

function costShare(files, name) {
  return total(files, ({ costs }) => costs[name].cost) / total(files, ({ costs }) => costs.none.cost);
}

/** Tokens of views, in thousands; a row for everything that can be done to a session, a column for each session. */
function renderSizes(files) {
  const names = Object.keys(files[0].sizes);
  const raw = total(files, ({ sizes }) => sizes.raw);
  return renderTable(
    ["tokens, thousands", ...files.map(({ name }) => shortName(name)), "total", "cut"],
    names.map((name) => {
      const sum = total(files, ({ sizes }) => sizes[name]);
      const cells = [...files.map(({ sizes }) => sizes[name]), sum].map((size) => (size / 1000).toFixed(1));
      return [name, ...cells, `${((1 - sum / raw) * 100).toFixed(1)} %`];
    }),
  );
}

/** Costs as shares of that of no compaction, the same way round. */
function renderCosts(files) {
  const names = Object.keys(files[0].costs).filter((name) => name !== "none");
  const plain = (title, measure) => [title, ...[...files.map(measure), total(files, measure)].map(String)];
  return renderTable(
    ["cost ÷ none", ...files.map(({ name }) => shortName(name)), "total"],
    [
      plain("requests", ({ requests }) => requests),
      plain("none, thousands", ({ costs }) => Math.round(costs.none.cost / 1000)),
      ...names.map((name) => [
        name,
        ...[...files.map((file) => [file]), files].map((part) => costShare(part, name).toFixed(3)),
      ]),
    ],
  );
}

function renderTable(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [head, head.map((_, column) => (column === 0 ? "--" : "--:")), ...rows].map(line).join("\n");
}

function shortName(name) {
  return name.split("_", 1)[0];
}

function toId(name) {
  return name.replaceAll(" ", "-");
}

function kilo(tokens) {
  return `${formatNumber(tokens / 1000)}k`;
}

function total(files, measure) {
  return files.reduce((sum, file) => sum + measure(file), 0);
}
