// Command lines that jpg prints for people to paste, in the words of their shell. What jpg starts itself passes through no shell.
import { quoteForShell, shellWord } from "./safe-text.ts";

/** A shell's way of quoting and joining commands. */
type Shell = "posix" | "cmd" | "powershell";

/**
 * Returns the shell that jpg was most likely typed in. On Windows: Git Bash and Cygwin set MSYSTEM or SHELL, cmd.exe passes PROMPT
 * on, PowerShell sets none of them.
 */
export function userShell(env: Readonly<Record<string, string | undefined>>, platform: string | undefined): Shell {
  const isSet = (name: string): boolean => (env[name] ?? "") !== "";
  if (platform !== "win32" || isSet("MSYSTEM") || isSet("SHELL")) return "posix";
  return isSet("PROMPT") ? "cmd" : "powershell";
}

/** Formats commands that run one after the other, while each succeeds, in a directory; null = the current one. */
export function shellLine(shell: Shell, commands: readonly (readonly string[])[], directory: string | null): string {
  const { word, quote, cd, join } = SHELLS[shell];
  const lines = commands.map((words) =>
    words.map((each, at) => (at === 0 ? word.program(each) : word.argument(each))).join(" "),
  );
  return join(directory === null ? lines : [`${cd} ${quote(directory)}`, ...lines]);
}

interface ShellRules {
  quote(text: string): string;
  /** Quote only what has to be. */
  readonly word: { program(text: string): string; argument(text: string): string };
  readonly cd: string;
  join(lines: readonly string[]): string;
}

/** Words that no shell of Windows changes. */
const PLAIN = /^[\w./:\\-]+$/;

/** No quoting keeps a line break in a line of cmd.exe. */
function onOneLine(text: string): string {
  return text.replace(/[\0\r\n]+/g, " ");
}

function quoteForCmd(text: string): string {
  return `"${onOneLine(text)
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/\\+$/, "$&$&")}"`;
}

/** PowerShell takes typographic quotes for straight ones. */
function quoteForPowerShell(text: string): string {
  return `'${text.replace(/['‘’‚‛]/g, "$&$&")}'`;
}

const cmdWord = (text: string): string => (PLAIN.test(text) ? text : quoteForCmd(text));

const SHELLS: Readonly<Record<Shell, ShellRules>> = {
  posix: {
    quote: quoteForShell,
    word: { program: shellWord, argument: shellWord },
    cd: "cd",
    join: (lines) => lines.join(" && "),
  },
  cmd: {
    // Quoted, a path may end in a backslash.
    quote: (text) => `"${onOneLine(text).replaceAll('"', '""')}"`,
    word: { program: cmdWord, argument: cmdWord },
    cd: "cd /d",
    join: (lines) => lines.join(" && "),
  },
  powershell: {
    quote: quoteForPowerShell,
    word: {
      // A quoted word alone is a text, not a command.
      program: (text) => (PLAIN.test(text) ? text : `& ${quoteForPowerShell(text)}`),
      argument: (text) => (PLAIN.test(text) ? text : quoteForPowerShell(text)),
    },
    cd: "cd -LiteralPath",
    // `&&` is unknown to the PowerShell that comes with Windows.
    join: (lines) => lines.reduceRight((rest, line) => `${line}; if ($?) { ${rest} }`),
  },
};
