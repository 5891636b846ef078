// Writes what the formats and the conformance set say into docs/formats.md, docs/formats/*.md and README.md (`npm run docs`). The
// same formats give the same text: test/docs/formats-docs.test.ts compares it with the files.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { listCases } from "../conformance/run.mjs";
import { AGENTS } from "../src/formats/agents.ts";

const INTRODUCTION = `# Formats

Generated from the formats themselves by \`npm run docs\`; edit \`agent.ts\` of a format in \`src/formats\`, not this page.

Every file comes back byte for byte with \`jpg export --original\`, whatever its format. Lines and messages that jpg cannot read are named with their reason when they are imported. A page for each format says what is in its files, what the agent sends when it resumes them, and where each claim was seen. A [plug-in](formats/plug-ins.md), a program of yours, adds another format.`;

/** The page of requests to APIs: they have one form of file. */
const REQUESTS = "requests";

/** The page of a format, without its ending. */
export function pageOf(agent) {
  return isRequest(agent) ? REQUESTS : agent.name;
}

/** Renders the index of a list of formats. */
export function renderFormats(agents) {
  return `${[INTRODUCTION, renderTable(agents, (agent) => `[${agent.agent.name}](formats/${pageOf(agent)}.md)`)].join("\n\n")}\n`;
}

/** Returns README's text with the table of a list of formats. */
export function withTable(text, agents) {
  return replaceBetween(text, "formats", renderTable(agents));
}

/** Returns a page of docs/formats with what its formats and the cases of the conformance set say. */
export function withFacts(text, agents, cases) {
  const described = replaceBetween(text, "facts", agents.map(renderFormat).join("\n\n"));
  return text.includes(marksOf("rules")[0]) ? replaceBetween(described, "rules", renderRules(cases)) : described;
}

function marksOf(name) {
  return [`<!-- ${name}: generated -->`, `<!-- /${name} -->`];
}

function replaceBetween(text, name, content) {
  const marks = marksOf(name);
  const [begin, end] = marks.map((mark) => text.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`no ${marks.join(" … ")} in the text`);
  return `${text.slice(0, begin + marks[0].length)}\n${content}\n${text.slice(end)}`;
}

function renderTable(agents, nameOf = ({ agent }) => agent.name) {
  const rows = agents.map((agent) => [
    nameOf(agent),
    `\`${agent.name}\``,
    "yes",
    agent.write || isRequest(agent) ? "yes" : "–",
    agent.resume ? "yes" : "–",
    agent.files.folders || agent.store ? "yes" : "–",
    agent.setup?.hooks ? "yes" : "–",
  ]);
  const head = ["", "name", "`import`", "`export --to`", "`resume --with`", "found by `import`", "`hooks install`"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Whether a format is that of requests to an API: these are written from a view, not as an agent's session. */
function isRequest(agent) {
  return agent.files.endings.length === 0 && agent.store === undefined;
}

function renderFormat({ agent, name, help, resume, setup }) {
  const lines = [
    `* **Where**: ${help.place} For example \`${help.file}\`.`,
    `* **In**: ${help.reads}`,
    ...(help.takes === undefined
      ? []
      : [`* **Out**: \`jpg export --to ${name} -o ${help.takes.file}\`: ${help.takes.by}.`]),
    ...(resume === undefined
      ? []
      : [
          `* **Resume**: \`jpg resume --with ${name}\` writes the session where ${agent.name} looks; \`--exec\` continues it there.`,
        ]),
    ...renderSetup(name, setup),
    ...(help.lost.length === 0 ? [] : [`* **Lost**: ${help.lost.join(" ")}`]),
  ];
  return `## ${agent.name} (\`${name}\`)\n\n${lines.join("\n")}`;
}

function renderSetup(name, setup) {
  if (setup === undefined) return [];
  const hooks = setup.hooks && `\`jpg hooks install ${name}\` keeps sessions as they end or are compacted.`;
  const server = setup.server && `\`jpg hooks install ${name} --mcp\` gives it the tools of \`jpg mcp\`.`;
  const live = setup.live && `\`jpg hooks install ${name} --live\` gets jpg into the running agent. ${setup.live.next}`;
  return [`* **Hooks**: ${[hooks, setup.hooks && setup.approve, server, live].filter(Boolean).join(" ")}`];
}

/** Renders the rules of an agent's cases; what most of them have in common is said once. */
function renderRules(cases) {
  const marks = cases.map(markOf);
  const [usual = ""] = [...new Set(marks)].sort((one, other) => countOf(marks, other) - countOf(marks, one));
  const rows = cases.map(({ id, rule }, at) => {
    const mark = marks[at] === usual ? "" : ` (${marks[at]})`;
    return `* ${rule} \`${id.slice(id.indexOf("/") + 1)}\`${mark}`;
  });
  return [`Each is a case of \`conformance/${cases[0]?.agent}\`; ${usual} unless said.`, "", ...rows].join("\n");
}

function countOf(list, value) {
  return list.filter((each) => each === value).length;
}

function markOf({ seen, version, also = [], differs = [] }) {
  if (seen === "documented") return "documented";
  const other = differs.length === 0 ? "" : `, not of ${differs.join(", ")}`;
  return `${seen === "run" ? "run" : "in a file"} of ${[version, ...also].sort().join(", ")}${other}`;
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const docs = new URL("../docs/", import.meta.url);
  writeFileSync(new URL("formats.md", docs), renderFormats(AGENTS));
  for (const page of new Set(AGENTS.map(pageOf))) {
    const file = new URL(`formats/${page}.md`, docs);
    const agents = AGENTS.filter((agent) => pageOf(agent) === page);
    writeFileSync(file, withFacts(readFileSync(file, "utf8"), agents, listCases(page)));
  }
  const readme = new URL("../README.md", import.meta.url);
  writeFileSync(readme, withTable(readFileSync(readme, "utf8"), AGENTS));
}
