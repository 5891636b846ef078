// Resumes the sessions of conformance/ in the real agents, offline, and writes what they sent, or with --check compares it:
//   JPG_AGENTS_DIR=DIR node scripts/record-conformance.mjs [--agent NAME] [--case NAME] [--check] [--also]
// --also compares, and adds the agent's version to `also` of the cases that it sends the same for.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";
import { firstDifference } from "../conformance/compare.mjs";
import { listCases } from "../conformance/run.mjs";

register();
const { findAgent } = await import("../test/agents/drivers.ts");
const { resumeCase } = await import("../test/agents/resume.ts");

const { values } = parseArgs({
  options: {
    agent: { type: "string" },
    case: { type: "string" },
    check: { type: "boolean", default: false },
    also: { type: "boolean", default: false },
  },
});
const folder = process.env.JPG_AGENTS_DIR;
if (!folder) throw new Error("Set JPG_AGENTS_DIR to a folder with the real agents.");

/** Agents that run at once: they wait more than they work. */
const CONCURRENT = 3;

const counts = { equal: 0, written: 0, differ: 0, skipped: 0 };
const cases = listCases(values.agent).filter(({ id }) => values.case === undefined || id.endsWith(`/${values.case}`));
const next = cases.values();
await Promise.all(Array.from({ length: CONCURRENT }, treatAll));
console.log(
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", "),
);
process.exitCode = counts.differ > 0 ? 1 : 0;

/** Takes cases until none is left. */
async function treatAll() {
  for (const each of next) {
    const agent = findAgent(each.agent, folder);
    const isOther = agent !== null && each.differs?.includes(agent.version);
    if (agent === null || isOther || each.seen !== "run") counts.skipped++;
    else await treat(each, agent);
  }
}

async function treat(each, agent) {
  try {
    const several = each.file === undefined ? undefined : { folder: join(each.folder, "session"), file: each.file };
    const sent = await resumeCase({ agent: each.agent, path: each.path, model: each.model, several }, agent);
    if (values.check || values.also) compare(each, agent, sent);
    else record(each, agent, sent);
  } catch (error) {
    counts.differ++;
    console.log(`FAULT ${each.id} (${agent.version}): ${error.message}`);
  }
}

function compare(each, { version }, sent) {
  const { thinking, record: file } = each;
  const difference = existsSync(file)
    ? firstDifference(sent, JSON.parse(readFileSync(file, "utf8")), { thinking })
    : "it has no sent.json";
  if (difference !== null) {
    counts.differ++;
    console.log(`FAULT ${each.id} (${version}): ${difference}`);
    return;
  }
  counts.equal++;
  console.log(`ok    ${each.id} (${version})`);
  const about = readAbout(each);
  const also = new Set(about.also ?? []);
  if (!values.also || version === about.version || also.has(version)) return;
  writeAbout(each, { ...about, also: [...also, version].sort() });
}

/** Writes what was sent, one block a line; thinking only where the case is about it. */
function record(each, { version }, sent) {
  const kept = sent.map(({ role, content }) => ({
    role,
    content: each.thinking ? content : content.filter(({ type }) => !type.endsWith("thinking")),
  }));
  const messages = kept.filter(({ content }) => content.length > 0);
  const rows = messages.map(({ role, content }) => {
    const blocks = content.map((block) => `    ${JSON.stringify(block)}`).join(",\n");
    return `  { "role": "${role}", "content": [\n${blocks}\n  ] }`;
  });
  writeFileSync(each.record, `[\n${rows.join(",\n")}\n]\n`);
  writeAbout(each, { ...readAbout(each), version });
  counts.written++;
  console.log(`wrote ${each.id} (${version})`);
}

function readAbout({ folder: place }) {
  return JSON.parse(readFileSync(join(place, "case.json"), "utf8"));
}

function writeAbout({ folder: place }, about) {
  writeFileSync(join(place, "case.json"), `${JSON.stringify(about, null, 2)}\n`);
}
