// Writes docs/cli.md from the commands' declarations (`npm run docs`). The same commands give the same text:
// test/cli/cli-docs.test.ts compares it with the file.
import { realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GLOBAL_OPTIONS } from "../src/cli/frame/command.ts";
import { loadCommands } from "../src/cli/help.ts";
import { buildCommand } from "../src/cli/parse-arguments.ts";

/** Rules of all commands, also for the manual page, in Markdown with code and bold text alone. */
export const COMMON_RULES = [
  `**Turns** count from 0, and ranges include both ends.`,
  `**ID** names a branch (\`fix-parser-k3f9/try-b\`, or \`try-b\` in the active conversation), a conversation (\`fix-parser-k3f9\`, or its last four characters), an agent's session (its id, its file, or the name of that), a compaction, commit or event; or it is a beginning of one of these or of a title, of four characters or more (\`fix/main\` is one, too). \`@\` is the active conversation (the default), \`-\` the one that was active before. When several fit, jpg lists them and stops (exit code 2).`,
  `**A number is always a turn**, never the beginning of an id.`,
  `**What changes something** takes beginnings, and ids of compactions, commits and events, from the active conversation only. Another conversation is named in full: by its name or last four characters, a branch of it, or the whole id or file of its session. Otherwise jpg stops and says what to type.`,
  `**Bounds** of a range: \`5\` turn 5 · \`5:EVENT\` up to that event of turn 5 · \`-3\` three turns before the last · \`5h\`, \`2d 3h\`, \`90m\` that long ago · \`yesterday\`, \`2026-11-22\` a day, \`2026-11-22T10:30\` a moment, in your time zone · \`last\` where the newest live compaction ends.`,
  `**The store**: \`--store DIR\`, else \`JPG_STORE\`, else the store that the current directory is in, else the project's (\`.git/jpg\`), else one per user. \`jpg path\` prints it.`,
  `**Output**: results on standard output, everything else on standard error. With \`--json\` the result, or the error, is one JSON document on standard output. \`NO_COLOR\` is honoured; long results go through \`$PAGER\` on a terminal.`,
  `**Exit codes**: 0 done · 1 nothing was found, or a check found a problem · 2 wrong usage or input · 3 the store or git failed · 4 a provider failed · 70 a bug in jpg · 130 ended by Ctrl-C.`,
];

const INTRODUCTION = `# Commands

Generated from the commands themselves by \`npm run docs\`; edit the declarations in \`src/cli/commands/\`, not this page.
\`jpg COMMAND --help\` prints the same on a terminal; options marked *(more)* with \`--help --all\`. Every command can also be called as \`git jpg COMMAND\`, which takes git's own \`-C DIR\` and \`--git-dir DIR\`, or as \`jpg conversation COMMAND\` or \`jpg c COMMAND\`.

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
