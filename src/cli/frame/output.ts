// The only writer to standard output (results) and standard error (everything else). Only text and jpg's own colours reach a
// terminal, whatever is passed in; if the reader closes the stream, the output ends silently.
import type { ReportProgress } from "../../app/conversation/progress.ts";
import { type PagerProgram, runPager } from "../../app/models/external-process.ts";
import { forJson, type SafeText, safe } from "../../core/safe-text.ts";
import { createProgressReport } from "./progress.ts";
import { asJpgError, errorDocument, renderError } from "./render-error.ts";
import { createProgressLine, createStyle, onlyColors, type Rendering, type Style, wantsColor } from "./terminal.ts";
import { wrapProse } from "./wrap.ts";

export interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(chunk: string | Uint8Array): boolean;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
}

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results and errors only. */
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  /** Errors are a JSON document on standard output too. */
  readonly json?: boolean;
  /** Called once when the reader of standard output has closed it. */
  readonly onClosed?: () => void;
  /** Called once when standard output fails for another reason, e.g. a full disk. */
  readonly onFailed?: (error: NodeJS.ErrnoException) => void;
  /** Shows a text in a pager; default starts the program. */
  readonly runPager?: (pager: PagerProgram, text: string) => Promise<boolean>;
}

/** Writes results, messages and errors. `style` and `width` are those of standard output. */
export interface Output extends Rendering {
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Style of standard error. */
  readonly errorStyle: Style;
  /** Whether the reader of standard output has closed it: work that only prints may stop. */
  readonly closed: boolean;
  /** Writes a result, ending it with a line feed when it has none. Nothing is written for an empty text. */
  data(text: SafeText): void;
  /** Writes bytes or text exactly; on a terminal, control characters become visible. */
  raw(chunk: string | Uint8Array): void;
  /** Writes control sequences, with which jpg draws a line of input. Never text of others. */
  control(sequences: string): void;
  /** Writes a long result, through the pager when standard output is a terminal it does not fit on. */
  page(text: SafeText): Promise<void>;
  /** Writes one JSON document. */
  json(value: unknown): void;
  /** Writes a question to standard error, without ending the line; with --quiet too. The text is safe for a terminal. */
  prompt(text: SafeText): void;
  /** Whether a person sees standard error: it is a terminal. */
  readonly seen: boolean;
  /**
   * Shows on the progress line what is being done now: any text, also a stranger's; "" = nothing. The next output replaces it. Only on a
   * terminal; not with --quiet or --json.
   */
  progress(text: string): void;
  /** Shows on the progress line how far work is that takes over a second, until it has ended. */
  readonly counts: ReportProgress;
  /** Says what happened; not with --quiet. */
  info(text: SafeText): void;
  /** Says more; only with --verbose. */
  detail(text: SafeText): void;
  /** Says what the user should know; not with --quiet. */
  warn(text: SafeText): void;
  /** Reports a thrown value, as text or, with --json, as a document. */
  error(thrown: unknown): void;
}

/** Columns of what is no terminal: those that COLUMNS names, as git has it; else unlimited. */
function widthFrom({ COLUMNS }: OutputOptions["env"]): number {
  return COLUMNS !== undefined && /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : Number.POSITIVE_INFINITY;
}

/** Columns of a terminal; no limit of what is none. */
function columnsOf({ isTTY, columns = 80 }: OutputOptions["stderr"]): number {
  return isTTY === true ? columns : Number.POSITIVE_INFINITY;
}

/** Creates the output over two streams. */
export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, env } = options;
  const quiet = options.quiet ?? false;
  const verbose = options.verbose ?? false;
  const isTerminal = stdout.isTTY === true;
  const style = createStyle(wantsColor(env, isTerminal));
  const errorStyle = createStyle(wantsColor(env, stderr.isTTY === true));
  const isMoving = stderr.isTTY === true && !quiet && options.json !== true && env["TERM"] !== "dumb";
  const screen = guardedWriter(stderr);
  const line = createProgressLine({
    columns: () => stderr.columns ?? 80,
    style: errorStyle,
    write: (sequences) => screen.write(sequences),
  });
  const out = afterErasing(guardedWriter(stdout, options), line.erase);
  const err = afterErasing(screen, line.erase);
  const shown = (text: string): string => (isTerminal ? onlyColors(text) : text);
  const decoder = new TextDecoder();
  const raw = (chunk: string | Uint8Array): void =>
    out.write(isTerminal ? shown(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })) : chunk);
  const data = (text: string): void => out.write(withLineEnd(shown(text)));
  const prompt = (text: string): void => err.write(onlyColors(text));
  const say = (text: SafeText): void => prompt(withLineEnd(wrapProse(text, columnsOf(stderr)).join("\n")));
  const page = async (text: SafeText): Promise<void> => {
    if (!(await showInPager(options, text, withLineEnd(shown(text))))) data(text);
  };
  const progress = (text: string): void => {
    if (!isMoving) return;
    if (text === "") line.erase();
    else line.show(text);
  };
  const json = (value: unknown): void => data(forJson(JSON.stringify(value ?? null, null, 2)));
  return {
    style,
    width: isTerminal ? (stdout.columns ?? 80) : widthFrom(env),
    quiet,
    verbose,
    errorStyle,
    get closed(): boolean {
      return out.isClosed();
    },
    data,
    raw,
    control: (sequences) => out.write(sequences),
    page,
    json,
    prompt,
    seen: stderr.isTTY === true,
    progress,
    counts: isMoving ? createProgressReport(progress) : () => undefined,
    info: (text) => (quiet ? undefined : say(text)),
    detail: (text) => (verbose && !quiet ? say(errorStyle.faint(text)) : undefined),
    warn: (text) => (quiet ? undefined : say(safe`${errorStyle.caution(safe`warning:`)} ${text}`)),
    error: (thrown) => {
      const error = asJpgError(thrown);
      if (options.json) json(errorDocument(error));
      else say(renderError(error, { style: errorStyle, width: Number.POSITIVE_INFINITY }, verbose));
    },
  };
}

/** Shows a text that is longer than the screen in the user's pager; false = it was not shown. */
async function showInPager(
  { stdout, env, runPager: given }: OutputOptions,
  text: SafeText,
  content: string,
): Promise<boolean> {
  const pager = fitsOn(stdout, text) ? null : choosePager(env, stdout.isTTY === true);
  const show = given ?? ((program, shown) => runPager(program, shown, env));
  return pager !== null && (await show(pager, content));
}

interface GuardedWriter {
  write(chunk: string | Uint8Array): void;
  isClosed(): boolean;
}

/** Writes until the stream closes or fails, then drops the rest. */
function guardedWriter(
  stream: OutputStream,
  { onClosed, onFailed }: Pick<OutputOptions, "onClosed" | "onFailed"> = {},
): GuardedWriter {
  let closed = false;
  stream.on("error", (error) => {
    if (closed) return;
    closed = true;
    if (isGone(error)) onClosed?.();
    else onFailed?.(error);
  });
  return {
    write: (chunk) => {
      if (!closed && chunk.length > 0) stream.write(chunk);
    },
    isClosed: () => closed,
  };
}

function afterErasing({ write, isClosed }: GuardedWriter, erase: () => void): GuardedWriter {
  return {
    write: (chunk) => {
      erase();
      write(chunk);
    },
    isClosed,
  };
}

/** Whether a stream failed because its reader closed it: that is no error. */
function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ERR_STREAM_DESTROYED";
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Whether a text leaves room for the prompt. Long lines count once: a pager that quits on one screen handles those. */
function fitsOn({ rows = 24 }: OutputStream, text: string): boolean {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && lines < rows; at = text.indexOf("\n", at + 1)) lines++;
  return lines < rows - 1;
}

/** Chooses the pager, or null for none. An empty value or `cat` turns paging off. */
export function choosePager(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): PagerProgram | null {
  if (!isTerminal || env["TERM"] === "dumb") return null;
  const own = env["JPG_PAGER"] ?? env["PAGER"];
  if (own === undefined) return { program: "less", arguments: ["-FRX"] };
  return own.trim() === "" || own.trim() === "cat" ? null : { shellCommand: own };
}
