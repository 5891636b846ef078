// Runs what a page of Markdown shows, as its reader would: every block in the order of the page, in one project that begins
// with the sample session. How to write such a page is said in test/docs/run-pages.test.ts.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTempFolder, git, initRepository, QUIET_GIT, type TestEnvironment } from "./temp-repository.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(ROOT, "bin/jpg.js");
const SAMPLE = join(ROOT, "examples/sample-session.jsonl");

/** A fenced block with the comments right before it. */
export interface PageBlock {
  /** Line of the page on which the fence opens, 1-based. */
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
  /** Set-ups that run before the block. */
  readonly setups: readonly string[];
  /** Why the block is not run; null when it is. */
  readonly notRun: string | null;
  /** Exit code of its last command. */
  readonly exit: number;
  /** Who types: a person that a set-up added. */
  readonly as: string;
  /** The file that the block is, relative to the project, or below `~/`. */
  readonly file: string | null;
  /** Whether its last command runs until what is shown has been printed, and is then interrupted. */
  readonly untilInterrupted: boolean;
}

export interface ShownCommand {
  readonly command: string;
  /** What the page shows of its output, without blank lines at the end. */
  readonly output: readonly string[];
}

const FENCE = /^```(\S*)\s*$/;
const COMMENT = /^<!-- (setup|not run|exit|as|file|until): (.+) -->$/;

/** Reads the fenced blocks of a page. Throws on a fence that never ends and on a comment of the runner that is unknown or misplaced. */
export function parsePage(text: string): PageBlock[] {
  const lines = text.split("\n");
  const blocks: PageBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = FENCE.exec(lines[at] ?? "")?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    blocks.push({ line: at + 1, language, lines: lines.slice(at + 1, end), ...readComments(lines, at) });
    at = end;
  }
  const loose = lines.findIndex((line, at) => COMMENT.test(line) && !/^(?:```|<!--)/.test(lines[at + 1] ?? ""));
  if (loose >= 0) throw new Error(`line ${loose + 1}: the comment is not right before a block`);
  return blocks;
}

function readComments(lines: readonly string[], fence: number): Omit<PageBlock, "line" | "language" | "lines"> {
  const found: [name: string, value: string][] = [];
  for (let at = fence - 1; at >= 0 && (lines[at] ?? "").startsWith("<!--"); at--) {
    const [, name, value] = COMMENT.exec(lines[at] ?? "") ?? [];
    if (name === undefined || value === undefined) throw new Error(`line ${at + 1}: unknown comment ${lines[at]}`);
    found.unshift([name, value]);
  }
  const value = (wanted: string): string | null => found.find(([name]) => name === wanted)?.[1] ?? null;
  return {
    setups: found.filter(([name]) => name === "setup").flatMap(([, names]) => names.split(", ")),
    notRun: value("not run"),
    exit: Number(value("exit") ?? 0),
    as: value("as") ?? "",
    file: value("file"),
    untilInterrupted: value("until") === "Ctrl-C",
  };
}

/** The commands of a `console` block. A command that ends in `\`, or has `<<`, continues on lines that begin with `> `. */
export function parseConsole(lines: readonly string[]): ShownCommand[] {
  const commands: { command: string; output: string[] }[] = [];
  for (const line of lines) {
    const last = commands.at(-1);
    if (line.startsWith("$ ")) commands.push({ command: line.slice(2), output: [] });
    else if (last === undefined) throw new Error(`a console block begins with \`$ \`, not with: ${line}`);
    else if (/\\$|<</.test(last.command) && last.output.length === 0 && line.startsWith("> ")) {
      last.command += `\n${line.slice(2)}`;
    } else last.output.push(line);
  }
  return commands.map(({ command, output }) => ({ command, output: trimEnd(output) }));
}

/** The commands of a `sh` block, without their comments. */
export function parseShell(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/(^|\s\s+)#.*$/, "").trimEnd()).filter((line) => line !== "");
}

function trimEnd(lines: readonly string[]): string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  while (trimmed.at(-1) === "") trimmed.pop();
  return trimmed;
}

export interface Typed {
  readonly code: number;
  /** Both streams, in the order in which they were written. */
  readonly output: string;
}

/** A person with a HOME and a folder in which they type. */
interface Person {
  readonly env: TestEnvironment;
  folder: string;
}

export interface PageSession {
  /** The folder that holds everything; in what a page shows it is `/`. */
  readonly root: string;
  readonly home: string;
  readonly project: string;
  /** The environment of the page's reader. */
  readonly env: TestEnvironment;
  /** Adds a person who types in a folder of their own. */
  addPerson(name: string, fullName: string, folder: string): void;
  /** Adds a program to everybody's PATH. */
  addProgram(name: string, script: string): void;
  /** Changes the environment of everybody. */
  setVariable(name: string, value: string): void;
  /** Runs shell lines as the reader; throws when one fails. For set-ups. */
  type(...lines: readonly string[]): Promise<string>;
  /** Runs a block. Resolves to what differs from the page, as text that names the line and shows what was printed. */
  run(block: PageBlock): Promise<RunBlock>;
  /** Shows a text of this machine, such as the address of a server, as another one in the page. */
  alias(shown: string, real: string): void;
  /** Has something closed at the end. */
  onClose(close: () => void | Promise<void>): void;
  close(): Promise<void>;
}

export interface RunBlock {
  readonly differences: readonly string[];
  /** The lines of the block as they should be. */
  readonly lines: readonly string[];
}

export type SetUp = (session: PageSession) => void | Promise<void>;

/** Opens a session: an empty HOME, and in it a project `tidepool` with git and `sample-session.jsonl`. */
export function openPageSession(setUps: Readonly<Record<string, SetUp>>): PageSession {
  const folder = createTempFolder();
  const root = folder.path;
  const home = join(root, "home/mara");
  const project = join(home, "tidepool");
  const bin = join(root, "bin");
  for (const path of [project, bin]) mkdirSync(path, { recursive: true });
  initRepository(project, "--initial-branch=main");
  copyFileSync(SAMPLE, join(project, "sample-session.jsonl"));
  const shared: TestEnvironment = {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    ...QUIET_GIT,
    TZ: "UTC",
    LANG: "C.UTF-8",
  };
  const env = personEnvironment(shared, home, "Mara");
  const people = new Map<string, Person>([["", { env, folder: project }]]);
  const bound = new Map<string, string>();
  const closing: (() => void | Promise<void>)[] = [];
  const aliases: (readonly [shown: string, real: string])[] = [];
  const plain = (text: string): string =>
    // Agents name the folder of a project's sessions after its path.
    [...aliases, ["", root], ["", root.replaceAll(/[^\w-]/g, "-")] as const].reduce(
      (rest, [shown, real]) => rest.replaceAll(real, shown),
      text,
    );
  const real = (text: string): string =>
    aliases.reduce(
      (rest, [shown, there]) => rest.replaceAll(shown, there),
      text.replaceAll(/(?<![\w.~-])\/(?=(?:home|srv)\/)/g, `${root}/`),
    );
  const session: PageSession = {
    root,
    home,
    project,
    env,
    addPerson(name, fullName, at) {
      const theirs = join(root, "home", name);
      mkdirSync(theirs, { recursive: true });
      people.set(name, { env: personEnvironment(shared, theirs, fullName), folder: at });
    },
    addProgram: (name, script) => writeFileSync(join(bin, name), script, { mode: 0o755 }),
    setVariable(name, value) {
      for (const person of people.values()) (person.env as Record<string, string>)[name] = value;
    },
    async type(...lines) {
      let printed = "";
      for (const line of lines) {
        const { code, output } = await typeLine(people.get("") as Person, line, root);
        if (code !== 0) throw new Error(`set-up: \`${line}\` ended with ${code}:\n${output}`);
        printed += output;
      }
      return printed;
    },
    async run(block) {
      for (const name of block.setups) {
        const setUp = setUps[name];
        if (setUp === undefined) throw new Error(`line ${block.line}: there is no set-up ${name}`);
        await setUp(session);
      }
      const person = people.get(block.as);
      if (person === undefined) throw new Error(`line ${block.line}: nobody is named ${block.as}`);
      if (block.notRun !== null) return { differences: [], lines: block.lines };
      const typing = { person, root, bound, plain, real };
      if (block.file !== null) return writeBlock(block, block.file, typing);
      if (block.language === "console") return runConsole(block, typing);
      if (block.language === "sh") return runShell(block, typing);
      throw new Error(`line ${block.line}: a block in \`${block.language}\` is neither run nor written to a file`);
    },
    alias: (shown, there) => void aliases.push([shown, there]),
    onClose: (close) => void closing.push(close),
    async close() {
      for (const close of closing.reverse()) await close();
      folder.remove();
    },
  };
  session.addProgram("jpg", `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  return session;
}

function personEnvironment(shared: TestEnvironment, home: string, fullName: string): TestEnvironment {
  const email = `${fullName.toLowerCase()}@example.com`;
  const config = `[user]\n\tname = ${fullName}\n\temail = ${email}\n[init]\n\tdefaultBranch = main\n`;
  mkdirSync(home, { recursive: true });
  if (!existsSync(join(home, ".gitconfig"))) writeFileSync(join(home, ".gitconfig"), config);
  return { ...shared, HOME: home };
}

interface Typing {
  readonly person: Person;
  readonly root: string;
  /** Ids of the page and the ids that they are in this session. */
  readonly bound: Map<string, string>;
  /** What was printed, as a page shows it. */
  plain(text: string): string;
  /** What a page shows, as it is typed here. */
  real(text: string): string;
}

function writeBlock(block: PageBlock, file: string, { person: { env, folder }, real }: Typing): RunBlock {
  const path = file.startsWith("~/") ? join(env["HOME"] ?? "", file.slice(2)) : join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, real(`${block.lines.join("\n")}\n`));
  return { differences: [], lines: block.lines };
}

async function runConsole(block: PageBlock, { person, root, bound, plain, real }: Typing): Promise<RunBlock> {
  const shown = parseConsole(block.lines);
  const differences: string[] = [];
  const lines: string[] = [];
  for (const [at, { command, output }] of shown.entries()) {
    const isLast = at === shown.length - 1;
    const line = real(withBoundIds(command, bound, person, root));
    const patterns = block.untilInterrupted && isLast ? output : null;
    const typed = await typeLine(person, line, root, patterns?.filter((one) => one !== LEFT_OUT).at(-1));
    const printed = trimEnd(plain(typed.output).split("\n"));
    const wanted = isLast ? block.exit : 0;
    const ended = typed.code === wanted || patterns !== null;
    if (!ended)
      differences.push(
        `line ${block.line}: \`${command}\` ended with ${typed.code}, not ${wanted}:\n${printed.join("\n")}`,
      );
    const differs = !matchOutput(output, printed, bound);
    if (differs && ended) {
      differences.push(
        `line ${block.line}: \`$ ${command}\` shows\n${output.join("\n")}\nand prints\n${printed.join("\n")}`,
      );
    }
    lines.push(...`$ ${command}`.split("\n").map((text, index) => (index === 0 ? text : `> ${text}`)));
    lines.push(...(differs && !output.includes(LEFT_OUT) ? withPageIds(printed, bound) : output));
    if (!isLast) lines.push("");
  }
  return { differences, lines: differences.length === 0 ? block.lines : lines };
}

async function runShell(block: PageBlock, { person, root, bound, plain, real }: Typing): Promise<RunBlock> {
  const differences: string[] = [];
  const commands = parseShell(block.lines);
  for (const [at, command] of commands.entries()) {
    const { code, output } = await typeLine(person, real(withBoundIds(command, bound, person, root)), root);
    const wanted = at === commands.length - 1 ? block.exit : 0;
    if (code !== wanted) {
      differences.push(`line ${block.line}: \`${command}\` ended with ${code}, not ${wanted}:\n${plain(output)}`);
    }
  }
  return { differences, lines: block.lines };
}

/** Longest that a command may take on a busy machine, milliseconds. */
const COMMAND_MS = 120_000;

/** Runs a line in the person's folder; a `cd` in it holds for the lines after it. `until` = text at which it is interrupted. */
function typeLine(person: Person, line: string, root: string, until?: string): Promise<Typed> {
  const place = join(root, "folder-after");
  const script = until === undefined ? `${line}\ncode=$?\npwd > "${place}"\nexit $code` : `exec ${line}`;
  const child = spawn("/bin/sh", ["-c", `exec 2>&1\n${script}`], { cwd: person.folder, env: person.env });
  child.stdin.end();
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (until !== undefined && hasLine(Buffer.concat(chunks).toString().replaceAll(root, ""), until))
      child.kill("SIGINT");
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (existsSync(place)) person.folder = realpathSync(readFileSync(place, "utf8").trim());
      resolve({ code: code ?? -1, output: Buffer.concat(chunks).toString() });
    });
  });
}

function hasLine(printed: string, wanted: string): boolean {
  return printed.split("\n").some((line) => matchLine(wanted, line.trimEnd(), new Map()) !== null);
}

/** A line of a page that takes the place of any lines. */
const LEFT_OUT = "…";

/** No part of a longer word or number. */
const BEFORE = "(?<![\\w-])";
const AFTER = "(?![\\w-]|\\.\\d)";
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const DATE = "\\d{4}-\\d\\d-\\d\\d(?:[ T]\\d\\d:\\d\\d(?::\\d\\d)?)?";
const UNIT = "(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|ms|mo|min|[smhdwy])";

/** What differs from run to run. An id has a digit in the page, so that no word is taken for one. */
const VARIABLE: readonly { readonly shown: string; readonly real: string; readonly isId: boolean }[] = [
  { shown: `${BEFORE}${UUID}${AFTER}`, real: UUID, isId: true },
  { shown: `${BEFORE}${DATE}${AFTER}`, real: DATE, isId: false },
  { shown: `${BEFORE}(?=[a-f]*\\d)[0-9a-f]{7,64}${AFTER}`, real: "[0-9a-f]{7,64}", isId: true },
  { shown: `${BEFORE}(?=[a-z]*\\d)(?=\\d*[a-z])[0-9a-z]{6}${AFTER}`, real: "[0-9a-z]{6}", isId: true },
  // A conversation's name.
  {
    shown: `${BEFORE}[a-z0-9]+(?:-[a-z0-9]+)*-(?=[a-z]*\\d)[0-9a-z]{4}${AFTER}`,
    real: "[a-z0-9-]+-[0-9a-z]{4}",
    isId: true,
  },
  { shown: "http://127\\.0\\.0\\.1:\\d+\\S*", real: "http://127\\.0\\.0\\.1:\\d+\\S*", isId: false },
  // An age, with the blanks of its column.
  { shown: ` *${BEFORE}\\d+ ?${UNIT}${AFTER} *| {2,}now(?= {2,}|$) *`, real: " *(?:now|\\d+ ?[a-z]+) *", isId: false },
];

const ANY_VARIABLE = new RegExp(VARIABLE.map(({ shown }) => `(${shown})`).join("|"), "g");

/** Compares what a page shows with what was printed; binds ids of the page to those of this session. */
export function matchOutput(shown: readonly string[], printed: readonly string[], bound: Map<string, string>): boolean {
  const passages: string[][] = [[]];
  for (const line of shown) {
    if (line === LEFT_OUT) passages.push([]);
    else passages.at(-1)?.push(line);
  }
  const known = new Map(bound);
  let from = 0;
  for (const [at, passage] of passages.entries()) {
    const isLast = at === passages.length - 1;
    const first = isLast && passage.length > 0 ? printed.length - passage.length : from;
    const starts = at === 0 ? [0] : range(Math.max(first, from), printed.length - passage.length);
    const start = starts.find((one) => matchLines(passage, printed.slice(one, one + passage.length), known));
    if (start === undefined || (at === 0 && isLast && passage.length !== printed.length)) return false;
    from = start + passage.length;
  }
  for (const [id, real] of known) bound.set(id, real);
  return true;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

/** Matches lines one to one; keeps what it learnt of ids only when all match. */
function matchLines(shown: readonly string[], printed: readonly string[], known: Map<string, string>): boolean {
  const tried = new Map(known);
  for (const [at, line] of shown.entries()) {
    const ids = matchLine(line, printed[at] ?? "", tried);
    if (ids === null) return false;
    for (const [id, real] of ids) tried.set(id, real);
  }
  for (const [id, real] of tried) known.set(id, real);
  return true;
}

/** The ids of a line that matches; null when it does not. An id that is bound matches only what it is bound to. */
function matchLine(shown: string, printed: string, known: ReadonlyMap<string, string>): Map<string, string> | null {
  if (shown === printed) return new Map();
  const ids: string[] = [];
  let pattern = "";
  let from = 0;
  for (const found of shown.matchAll(ANY_VARIABLE)) {
    const kind = VARIABLE[found.slice(1).findIndex((group) => group !== undefined)];
    if (kind === undefined) continue;
    pattern += escapeRegExp(shown.slice(from, found.index)) + (kind.isId ? `(${kind.real})` : kind.real);
    if (kind.isId) ids.push(found[0]);
    from = found.index + found[0].length;
  }
  const match = new RegExp(`^${pattern}${escapeRegExp(shown.slice(from))}$`).exec(printed);
  if (match === null) return null;
  const found = new Map<string, string>();
  for (const [at, id] of ids.entries()) {
    const real = match[at + 1] ?? "";
    const other = boundTo(id, new Map([...known, ...found]));
    if (other !== undefined && !other.startsWith(real) && !real.startsWith(other)) return null;
    found.set(id, real);
  }
  return found;
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The real id of one of the page, which may show it shorter or longer elsewhere. */
function boundTo(id: string, known: ReadonlyMap<string, string>): string | undefined {
  const exact = known.get(id);
  if (exact !== undefined) return exact;
  const other = [...known].find(
    ([one]) => one.length >= 7 && id.length >= 7 && (one.startsWith(id) || id.startsWith(one)),
  );
  return other?.[1].slice(0, id.length);
}

/** A command with the ids of this session in the place of those of the page. */
function withBoundIds(command: string, bound: ReadonlyMap<string, string>, person: Person, root: string): string {
  return command.replace(ANY_VARIABLE, (found) => {
    const real = boundTo(found, bound);
    return real === undefined ? found : /^\d+$/.test(real) && real.length >= 7 ? longer(real, person, root) : real;
  });
}

/** A beginning of a commit's id that has a letter: a number is a turn to jpg. */
function longer(commit: string, { env, folder }: Person, root: string): string {
  const store = [join(folder, ".git/jpg"), folder].find((path) => existsSync(path)) ?? root;
  const whole = git(store, env, ["rev-parse", commit]);
  return whole.slice(0, whole.search(/[a-f]/) + 1);
}

/** Printed lines with the page's ids where it has them. A new id without a digit gets one, so that it is seen to be an id. */
function withPageIds(printed: readonly string[], bound: Map<string, string>): string[] {
  for (const [, id = ""] of printed.join("\n").matchAll(/ compaction ([a-z]{6})$/gm)) {
    if (![...bound.values()].includes(id)) bound.set(`${id.slice(0, -1)}7`, id);
  }
  const shown = [...bound].sort(([, one], [, other]) => other.length - one.length);
  return printed.map((line) => shown.reduce((text, [id, real]) => text.replaceAll(real, id), line));
}
