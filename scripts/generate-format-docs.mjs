// Writes docs/formats.md from the values of the formats, and the table in README.md (`npm run docs`). The same formats give the
// same text: test/docs/formats-docs.test.ts compares it with the files.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AGENTS } from "../src/formats/agents.ts";

const INTRODUCTION = `# Formats

Generated from the formats themselves by \`npm run docs\`; edit \`src/formats/NAME/agent.ts\`, not this page.

Every file comes back byte for byte with \`jpg export --original\`, whatever its format. Lines and messages that jpg cannot read are named with their reason when they are imported.`;

const MARKS = ["<!-- formats: generated -->", "<!-- /formats -->"];

/** Renders the page of a list of formats. */
export function renderFormats(agents) {
  return `${[INTRODUCTION, renderTable(agents), ...agents.map(renderFormat)].join("\n\n")}\n`;
}

/** Returns a text with the table of a list of formats between its marks. */
export function withTable(text, agents) {
  const [begin, end] = MARKS.map((mark) => text.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`no ${MARKS.join(" … ")} in the text`);
  return `${text.slice(0, begin + MARKS[0].length)}\n${renderTable(agents)}\n${text.slice(end)}`;
}

function renderTable(agents) {
  const rows = agents.map((agent) => [
    agent.agent.name,
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
  return [`* **Hooks**: ${[hooks, setup.hooks && setup.approve, server].filter(Boolean).join(" ")}`];
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/formats.md", import.meta.url), renderFormats(AGENTS));
  const readme = new URL("../README.md", import.meta.url);
  writeFileSync(readme, withTable(readFileSync(readme, "utf8"), AGENTS));
}
