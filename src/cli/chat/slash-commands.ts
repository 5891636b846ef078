// The slash commands of the chat, and their help.
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Style, unpainted } from "../frame/style.ts";
import { wrapSpans } from "../markdown/spans.ts";
import type { SlashCommand } from "./slash-command.ts";
import { compactCommand } from "./slash-compact.ts";
import { newCommand, retryCommand, tokensCommand } from "./slash-conversation.ts";
import { exportCommand } from "./slash-export.ts";
import { diffCommand, forkCommand, logCommand, revertCommand } from "./slash-history.ts";
import { modelCommand } from "./slash-model.ts";

const helpCommand: SlashCommand = {
  name: "help",
  aliases: ["?"],
  forms: [{ usage: "", explains: "show this" }],
  run: async (_words, { terminal, output }) => {
    terminal.write(safe`${renderSlashHelp(output.style, terminal.columns())}\n`);
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
  newCommand,
  retryCommand,
  tokensCommand,
  modelCommand,
  exportCommand,
  helpCommand,
  quitCommand,
];

/** Renders the commands and what else can be typed: in two columns, or one below the other on a narrow terminal. */
function renderSlashHelp(style: Style, columns: number): SafeText {
  const rows = [
    ...SLASH_COMMANDS.flatMap(({ name, aliases, forms }) => [
      ...forms.map(({ usage, explains }) => [`/${name} ${usage}`.trimEnd(), explains] as const),
      ...aliases.map((alias) => [`/${alias}`, `the same as /${name}`] as const),
    ]),
    ...KEYS,
  ];
  const widest = Math.max(...rows.map(([typed]) => typed.length));
  const beside = columns - widest - 5;
  const isNarrow = beside < 30;
  const indent = forTerminal(" ".repeat(isNarrow ? 6 : widest + 4));
  return joinLines(
    rows.flatMap(([typed, explains]) => {
      const text = { text: forTerminal(explains), paint: unpainted };
      const [first = "", ...rest] = wrapSpans([text], isNarrow ? Math.max(2, columns - 7) : beside);
      const shown = style.heading(forTerminal(typed));
      const blanks = forTerminal(" ".repeat(Math.max(0, widest - typed.length)));
      const opening = isNarrow
        ? ([safe`  ${shown}`, safe`${indent}${first}`] as const)
        : [safe`  ${shown}${blanks}  ${first}`];
      return [...opening, ...rest.map((line) => safe`${indent}${line}`)];
    }),
  );
}

const KEYS: readonly (readonly [typed: string, explains: string])[] = [
  ["Alt+Enter, Ctrl-J, or \\ at the end", "continues the message on the next line"],
  ["Ctrl-G", "writes the message in your editor ($VISUAL, $EDITOR)"],
  ["@FILE", "attaches a file, Tab completes its name; \\@ is a plain @; pasted text attaches nothing"],
  ["Up, Down, Ctrl-R", "messages typed before; search them"],
  ["Esc", "interrupts the answer, which is kept"],
  ["Ctrl-C", "the same; empties the line; twice leaves"],
];
