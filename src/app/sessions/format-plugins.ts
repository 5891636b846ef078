// Format plug-ins: programs called `jpg-format-NAME` that read and write the sessions of an agent that jpg does not know
// (docs/formats/plug-ins.md). Finds them, and runs one only while the user trusts exactly its bytes.
import { statSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, parse } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { resolveUserPaths, trustDigest } from "../../config/trust.ts";
import { asSentence, type JpgError, reasonOf, userError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import { createPluginReader, PLUGIN_PROTOCOL, type PluginReading, pluginFormat } from "../../formats/format-plugin.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import { findProgram } from "../../store/program-call.ts";
import { locate } from "../conversation/engine.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { isProgramTrusted } from "../conversation/trust.ts";
import { startProgram } from "../models/external-process.ts";
import { isWithin } from "./agent-stores.ts";
import type { SessionFile } from "./session-files.ts";
import { machineOf } from "./session-registry.ts";

/** A format plug-in that was found; it may not be trusted. */
export interface FormatPlugin {
  /** Name of the format, as typed after `import` and `--to`. */
  readonly name: string;
  /** The program, absolute. */
  readonly path: string;
  /** SHA-256 of its bytes when it was found, 64 hex digits: what the user trusts. */
  readonly digest: string;
}

/** Bounds of one call. */
export interface PluginLimits {
  readonly timeoutMs: number;
  /** Bytes of the whole answer, and characters of one line of it. */
  readonly maxBytes: number;
  readonly maxLine: number;
}

export const PLUGIN_LIMITS: PluginLimits = {
  timeoutMs: 120_000,
  maxBytes: 128 * 1024 * 1024,
  maxLine: 32 * 1024 * 1024,
};

const PREFIX = "jpg-format-";
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

/**
 * Finds the plug-in of a format: in jpg's own folder `formats`, else on PATH. Null = there is none. Starts nothing. Throws
 * `plugin_failed` for one that cannot be read, or may not be started.
 */
export async function findFormatPlugin(runtime: Runtime, name: string, store?: string): Promise<FormatPlugin | null> {
  if (!NAME.test(name)) return null;
  const folders = await pluginFolders(runtime, store);
  const path = folders.map((folder) => programIn(runtime, folder, name)).find((found) => found !== null);
  if (path === undefined || path === null) {
    refuseUnstartable(folders.map((folder) => join(folder, PREFIX + name)));
    return null;
  }
  return { name, path, digest: trustDigest(await readProgram(path)) };
}

function programIn({ env }: Runtime, folder: string, name: string): string | null {
  return findProgram(PREFIX + name, { env: { ...env, PATH: folder, Path: folder } });
}

/** Lists the names of the plug-ins that `findFormatPlugin` finds, sorted. Starts nothing. */
export async function listFormatPlugins(runtime: Runtime, store?: string): Promise<readonly string[]> {
  const { namesIn } = machineOf(runtime);
  const folders = await pluginFolders(runtime, store);
  const files = folders.flatMap(namesIn).filter((file) => file.startsWith(PREFIX));
  const names = new Set(files.map((file) => parse(file.slice(PREFIX.length)).name));
  const isProgram = (name: string): boolean => folders.some((folder) => programIn(runtime, folder, name) !== null);
  return [...names].filter((name) => NAME.test(name) && isProgram(name)).sort();
}

/** Throws for a file that has a plug-in's name and is no program. */
function refuseUnstartable(paths: readonly string[]): void {
  const path = paths.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true);
  if (path === undefined) return;
  throw userError("plugin_failed", `${path} is a file that may not be started.`, {
    hints: [`A format plug-in is a program: \`chmod +x ${shellWord(path)}\`.`],
  });
}

/** The folder of the user's own plug-ins, absolute; need not exist. */
export function formatsFolder(runtime: Runtime): string {
  return resolveUserPaths(runtime).formatsDir;
}

/**
 * The folders to look in, absolute. Never one of the project or the store: what a stranger's repository brings must not be found,
 * whatever PATH says there.
 */
async function pluginFolders(runtime: Runtime, store: string | undefined): Promise<readonly string[]> {
  const { env, home } = runtime;
  const { root, project } = await locate(runtime, store);
  // Some keep their whole home in a repository.
  const foreign = [root, project?.root].filter((folder) => folder !== undefined && !isWithin(home, folder));
  const onPath = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(isAbsolute);
  const isForeign = (folder: string): boolean => foreign.some((one) => one !== undefined && isWithin(folder, one));
  return [formatsFolder(runtime), ...onPath.filter((folder) => !isForeign(folder))];
}

async function readProgram(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw userError("plugin_failed", `${path} cannot be read: ${reasonOf(error)}.`, {
      hints: ["A format plug-in runs only if jpg can read it, to notice when it changes."],
      cause: error,
    });
  }
}

/** Throws `untrusted_format` unless the user trusts the program as it is on the disk now. */
export async function requirePluginTrust(runtime: Runtime, { name, path }: FormatPlugin): Promise<void> {
  if (await isProgramTrusted(runtime, path, trustDigest(await readProgram(path)))) return;
  throw userError(
    "untrusted_format",
    `${path} is a program that you have not allowed jpg to run, or that changed since.`,
    {
      hints: [`\`jpg trust --format ${name}\` allows it as it is now.`],
    },
  );
}

/** A session file as a plug-in has read it. */
export interface ReadByPlugin extends PluginReading {
  /** Gives the format for the text that jpg reads of the same file. Throws `file_changed` if it is not the same any more. */
  formatOf(source: SessionSource): AgentFormat;
}

/** Has a plug-in read a session. Throws `untrusted_format`, `plugin_failed`, `bad_plugin_output`. */
export async function readByPlugin(
  runtime: Runtime,
  plugin: FormatPlugin,
  file: Pick<SessionFile, "path">,
  limits: PluginLimits = PLUGIN_LIMITS,
): Promise<ReadByPlugin> {
  if (file.path === "-") return readInput(runtime, plugin, limits);
  const before = stateOf(file.path);
  const reader = createPluginReader(plugin.name);
  const lines = createLineSplitter(reader.take, limits.maxLine);
  await runPlugin(runtime, plugin, { words: ["read", file.path], input: "", take: lines.take }, limits);
  lines.end();
  const reading = reader.end();
  const formatOf = (source: SessionSource): AgentFormat => {
    if (stateOf(file.path) === before) return pluginFormat(reading, source);
    throw userError("file_changed", `${file.path} changed while it was read.`, {
      hints: ["Nothing of it was imported. Import it again."],
    });
  };
  return { ...reading, formatOf };
}

/** Standard input, as a file: a plug-in may read in it wherever it likes. */
async function readInput(runtime: Runtime, plugin: FormatPlugin, limits: PluginLimits): Promise<ReadByPlugin> {
  const folder = await mkdtemp(join(runtime.env["TMPDIR"] ?? tmpdir(), "jpg-format-"));
  try {
    const path = join(folder, "session");
    await writeFile(path, await runtime.readStdin(), { mode: 0o600 });
    const reading = await readByPlugin(runtime, plugin, { path }, limits);
    return { ...reading, formatOf: (source) => pluginFormat(reading, source) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Changes whenever the file does. */
function stateOf(path: string): string {
  try {
    const { size, mtimeMs, ino } = statSync(path);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    return ""; // reading it says what is wrong
  }
}

/** Has a plug-in write a session from the lines it is given. Throws `untrusted_format`, `plugin_failed`. */
export async function writeByPlugin(
  runtime: Runtime,
  plugin: FormatPlugin,
  lines: string,
  limits: PluginLimits = PLUGIN_LIMITS,
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
  };
  await runPlugin(runtime, plugin, { words: ["write"], input: lines, take }, limits);
  const session = Buffer.concat(chunks);
  if (session.length === 0) throw failed(plugin, "printed nothing where it should write a session", "");
  return session;
}

/** One call of a plug-in. */
interface PluginCall {
  readonly words: readonly string[];
  readonly input: string;
  /** Takes output as it comes; what it throws ends the plug-in. */
  readonly take: (chunk: Buffer) => void;
}

/** Characters of what a plug-in says of its failure that are kept. */
const KEPT_ERRORS = 4096;
const SHOWN_ERRORS = 300;
const ENDED_WELL = "ended with exit code 0";

/**
 * Runs a trusted plug-in to its end, in the user's home folder, where no project decides what it loads. It ends with jpg, whatever
 * ends jpg. Throws `untrusted_format`, `plugin_failed`, and what taking its output throws.
 */
async function runPlugin(
  runtime: Runtime,
  plugin: FormatPlugin,
  { words, input, take }: PluginCall,
  { timeoutMs, maxBytes }: PluginLimits,
): Promise<void> {
  await requirePluginTrust(runtime, plugin);
  const env = { ...runtime.env, JPG_FORMAT_PROTOCOL: String(PLUGIN_PROTOCOL) };
  const program = startProgram([plugin.path, ...words], { cwd: runtime.home, env });
  if ("problem" in program) throw failed(plugin, program.problem, "");
  let [size, errors] = [0, ""];
  let problem: unknown = null;
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = () => void program.end().then(resolve);
  });
  const giveUp = (reason: unknown): void => {
    if (problem !== null) return;
    problem = reason;
    stop();
  };
  const timer = setTimeout(() => giveUp(failed(plugin, `did not end within ${timeoutMs / 1000} s`, errors)), timeoutMs);
  program.errors.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-KEPT_ERRORS);
  });
  program.output.on("data", (chunk: Buffer) => {
    if (problem !== null) return;
    size += chunk.length;
    if (size > maxBytes) return giveUp(failed(plugin, `printed more than ${maxBytes} bytes`, ""));
    try {
      take(chunk);
    } catch (error) {
      giveUp(error);
    }
  });
  program.input.end(input);
  const ended = await Promise.race([program.ended, stopped.then(() => ENDED_WELL)]);
  clearTimeout(timer);
  if (problem !== null) throw problem;
  if (ended !== ENDED_WELL) throw failed(plugin, ended, errors);
}

function failed({ name, path }: FormatPlugin, problem: string, errors: string): JpgError {
  const said = errors.trim().split("\n").at(-1)?.trim().slice(0, SHOWN_ERRORS) ?? "";
  const how = said === "" ? problem : `${problem}: ${said}`;
  return userError("plugin_failed", `The plug-in ${PREFIX}${name} ${asSentence(how)}`, {
    hints: ["Nothing was written.", `The program is ${path}.`],
  });
}

const NEWLINE = "\n";

/** Splits output into lines as it comes. Throws `bad_plugin_output` for a line that is too long. */
function createLineSplitter(takeLine: (line: string) => void, maxLine: number) {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    parts.push(text);
    length += text.length;
    if (length > maxLine)
      throw userError(
        "bad_plugin_output",
        `A line that a format plug-in printed has more than ${maxLine} characters.`,
        {
          hints: ["Nothing was written. docs/formats/plug-ins.md says what a format plug-in prints."],
        },
      );
  };
  const flush = (): void => {
    const line = parts.join("");
    [parts, length] = [[], 0];
    takeLine(line);
  };
  return {
    take(chunk: Buffer): void {
      const [first = "", ...rest] = decoder.write(chunk).split(NEWLINE);
      add(first);
      for (const text of rest) {
        flush();
        add(text);
      }
    },
    end(): void {
      add(decoder.end());
      if (length > 0) flush();
    },
  };
}
