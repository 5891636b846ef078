// The slash commands of the chat, and their help.
import { joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Style } from "../frame/style.ts";
import { renderTable } from "../frame/table.ts";
import type { SlashCommand } from "./slash-command.ts";
import { compactCommand } from "./slash-compact.ts";
import { exportCommand } from "./slash-export.ts";
import { diffCommand, forkCommand, logCommand, revertCommand } from "./slash-history.ts";
import { modelCommand } from "./slash-model.ts";

const helpCommand: SlashCommand = {
  name: "help",
  aliases: ["?"],
  forms: [{ usage: "", explains: "show this" }],
  run: async (_words, { terminal, output }) => {
    terminal.write(safe`${renderSlashHelp(output.style)}\n`);
    return {};
  },
};

const quitCommand: SlashCommand = {
  name: "quit",
  aliases: ["exit"],
  forms: [{ usage: "", explains: "leave; so does Ctrl-D" }],
  run: async () => ({ leave: true }),
};

/** In the order of help. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  compactCommand,
  forkCommand,
  logCommand,
  diffCommand,
  revertCommand,
  modelCommand,
  exportCommand,
  helpCommand,
  quitCommand,
];

/** Renders the commands and what else can be typed. Long lines are the terminal's to break. */
function renderSlashHelp(style: Style): SafeText {
  const rows = SLASH_COMMANDS.flatMap(({ name, aliases, forms }) => [
    ...forms.map(({ usage, explains }) => [`/${name} ${usage}`.trimEnd(), explains]),
    ...aliases.map((alias) => [`/${alias}`, `the same as /${name}`]),
  ]);
  const cells = [...rows, ...KEYS].map(([typed = "", explains = ""]) => [
    { text: typed, paint: style.heading },
    explains,
  ]);
  return joinLines(renderTable(cells, { columns: [{}, {}], indent: "  " }));
}

const KEYS: readonly (readonly [typed: string, explains: string])[] = [
  ["Alt+Enter, Ctrl-J, or \\ at the end", "the message goes on in the next line"],
  ["@FILE", "attaches a file; \\@ is an @, and nothing that is pasted attaches"],
  ["Up, Down, Ctrl-R", "messages typed before; search them"],
  ["Esc", "interrupts the answer, which is kept"],
  ["Ctrl-C", "the same; empties the line; twice leaves"],
];
