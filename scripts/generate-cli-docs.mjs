// Writes docs/cli.md from the commands' declarations (`npm run docs`). The same commands give the same text:
// test/cli/cli-docs.test.ts compares it with the file.
import { realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { COMMON_RULES } from "../src/cli/common-rules.ts";
import { GLOBAL_OPTIONS } from "../src/cli/frame/command.ts";
import { loadCommands } from "../src/cli/help.ts";
import { buildCommand } from "../src/cli/parse-arguments.ts";

const INTRODUCTION = `# Commands

Generated from the commands themselves by \`npm run docs\`; edit the declarations in \`src/cli/commands/\`, not this page.
\`jpg COMMAND --help\` prints the same on a terminal; options marked *(more)* with \`--help --all\`. \`jpg help --agents\` prints all commands on one page for a model. Every command can also be called as \`git jpg COMMAND\`, which takes git's own \`-C DIR\` and \`--git-dir DIR\`, or as \`jpg conversation COMMAND\` or \`jpg c COMMAND\`.

## What commands have in common

${COMMON_RULES.map((rule) => `* ${rule}`).join("\n")}
`;

function renderCommand(command) {
  const { name, arguments: args = [], options = [], examples = [] } = command;
  return [
    `## jpg ${name}`,
    `${capitalise(command.summary)}.`,
    `\`\`\`\njpg ${name}${command.passThrough ? " [args...]" : ` ${buildCommand(command).usage()}`}\n\`\`\``,
    ...[command.description, command.details].filter((text) => text !== undefined),
    ...renderTable(
      "argument",
      args.map((argument) => [code(argument.name), argument.description]),
    ),
    ...renderTable(
      "option",
      options
        .filter(({ listed }) => listed !== "never")
        .map((option) => [code(option.flags), `${describe(option)}${option.listed === "more" ? " *(more)*" : ""}`]),
    ),
    ...(examples.length === 0 ? [] : [`Examples:\n\n${examples.map(renderExample).join("\n")}`]),
  ].join("\n\n");
}

function renderExample({ command, explains }) {
  return `* ${code(command)}: ${explains}`;
}

function renderTable(heading, rows) {
  if (rows.length === 0) return [];
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  return [[`| ${heading} | meaning |`, "|---|---|", ...lines].join("\n")];
}

/** What an option does, in Markdown. */
export function describe({ description, choices, repeatable }) {
  const values = choices === undefined ? "" : `: ${choices.map(code).join(", ")}`;
  return `${description}${values}${repeatable ? "; may be repeated" : ""}`;
}

function code(text) {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function capitalise(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The whole page. */
export function renderPage(commands) {
  const parts = [
    INTRODUCTION,
    "Options of every command:",
    ...renderTable(
      "option",
      GLOBAL_OPTIONS.map((option) => [code(option.flags), describe(option)]),
    ),
    ...commands.map(renderCommand),
  ];
  return `${parts.join("\n\n").replace(/\n{3,}/g, "\n\n")}\n`;
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/cli.md", import.meta.url), renderPage(await loadCommands()));
}
