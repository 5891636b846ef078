// Paths of somebody else's machine as they are on this one: in what is exported alone, never in what is stored. A folder of a
// Windows machine is known in every way in which programs write it, and what is below it is written as paths are written here.
import { resolve } from "node:path";
import type { Event, View } from "../../core/conversation/event.ts";
import { userError } from "../../core/errors.ts";
import { escapeForPattern } from "../../core/look/search-words.ts";
import { maskLine } from "../../core/secrets/mask.ts";

/** A folder there, and the one that stands for it here; neither ends in a slash. */
export interface RootMapping {
  readonly from: string;
  readonly to: string;
}

/** Reads `OLD=NEW` words; OLD is absolute, NEW may begin at `cwd`. Throws `usage`, also where two say what one OLD is. */
export function parseRoots(words: readonly string[], cwd: string): readonly RootMapping[] {
  const roots = words.map((word) => parseRoot(word, cwd));
  for (const [at, { from, to }] of roots.entries()) {
    const other = roots.slice(0, at).find((root) => folderKey(root.from) === folderKey(from) && root.to !== to);
    if (other !== undefined)
      throw userError("usage", `--root: ${from} cannot become both ${other.to} and ${to}.`, {
        hints: ["Give --root once for each OLD."],
      });
  }
  return roots;
}

function parseRoot(word: string, cwd: string): RootMapping {
  const [, old = "", to = ""] = /^([^=]+)=(.+)$/.exec(word) ?? [];
  const from = withoutEnd(old);
  const folder = parseWindows(from);
  const isFolder = folder === null ? /^\/[^/]/.test(from) : folder.names.length > 0;
  // A folder of a Windows machine is nowhere below this one.
  if (isFolder && to !== "") return { from, to: withoutEnd(isWindows(to) ? to : resolve(cwd, to)) };
  throw userError(
    "usage",
    `--root ${word}: expected OLD=NEW, where OLD is the absolute path of a folder other than /.`,
    {
      hints: [
        "--root /home/ada/tidepool=. puts this folder in the place of Ada's, --root 'C:\\Users\\ada\\tidepool=.' where she has Windows.",
      ],
    },
  );
}

function withoutEnd(path: string): string {
  return path.replace(/[/\\]+$/, "");
}

/** Whether a path is written as only Windows writes it. */
function isWindows(path: string): boolean {
  return /^(?:[A-Za-z]:(?:[/\\]|$)|\\\\)/.test(path);
}

interface WindowsFolder {
  /** Letter of a drive, or server of a share. */
  readonly drive: string;
  readonly isShare: boolean;
  /** Names of folders below the drive or server, the share first. */
  readonly names: readonly string[];
}

const DRIVE = /^(?:[/\\]{2}[?.][/\\])?([A-Za-z]):(?:[/\\]+|$)(.*)$/;
/** As WSL, Git Bash and Cygwin write folders of drives. */
const MOUNTED = /^\/(?:mnt\/|cygdrive\/)?([A-Za-z])\/+(.+)$/;
const SHARE = /^(?:[/\\]{2}\?[/\\]UNC[/\\]|[/\\]{2})([^/\\?.]+|[^/\\]{2,})[/\\]+(.+)$/;

/** A folder of a Windows machine, however it is written; null of another. */
function parseWindows(path: string): WindowsFolder | null {
  const onDrive = DRIVE.exec(path) ?? MOUNTED.exec(path);
  const [, drive, rest] = onDrive ?? SHARE.exec(path) ?? [];
  if (drive === undefined || rest === undefined) return null;
  return { drive, isShare: onDrive === null, names: rest.split(/[/\\]+/).filter((name) => name !== "") };
}

/** The same for all ways to write a folder: names of Windows know no upper and lower case. */
function folderKey(path: string): string {
  const folder = parseWindows(path);
  return folder === null ? path : [folder.isShare, folder.drive, ...folder.names].join("\\").toLowerCase();
}

/** What goes on with the name of a folder. */
const NAME = "\\p{L}\\p{M}\\p{N}_\\-";
const NAME_ON = `${NAME}+@~%$`;
/** Between two names; texts that hold code or JSON write a backslash twice, or four times. */
const SEPARATOR = "(?:\\\\{1,4}|/{1,2})";
/** What follows a folder and may be a path: up to a blank, a quote, or what ends a path in a list, a place or a setting. */
const BELOW = "(?:[/\\\\][^\\s\"'`<>|,;:=]*)?";
/** A text that is a path as a whole may hold blanks, but it is no sentence and no command. */
const WHOLE_PATH = /^(?!.*[.!] |.* [-/\\])[^\n<>"|?*:=,;]*$/;

/** A view with other roots: wherever a path begins with one, whole names of folders only. */
export function mapRoots(view: View, roots: readonly RootMapping[]): View {
  if (roots.length === 0) return view;
  const mapText = textMapper(roots);
  const mapper = { mask: mapText, spans: () => [] };
  const map = (event: Event): Event => {
    const line = JSON.stringify(event);
    const mapped = maskLine(line, mapper);
    return mapped === line ? event : (JSON.parse(mapped) as Event);
  };
  return { turns: view.turns.map((turn) => ({ ...turn, events: turn.events.map(map) })) };
}

function textMapper(roots: readonly RootMapping[]): (text: string) => string {
  // The longest first: one may lie in another.
  const ordered = [...roots].sort((a, b) => folderKey(b.from).length - folderKey(a.from).length);
  const folders = ordered.map(({ from }) => `(${folderPattern(from)})`).join("|");
  const path = new RegExp(`(?<![${NAME}./\\\\])(?:${folders})(?![${NAME_ON}]|\\.[${NAME}])(${BELOW})`, "gu");
  return (text) => {
    const isJson = /^\s*[{[]/.test(text) && isParsed(text);
    let end = 0;
    let mapped = "";
    for (let match = path.exec(text); match !== null; match = path.exec(text)) {
      const [whole, ...groups] = match;
      const below = groups.at(-1) ?? "";
      const rest = match.index === 0 && WHOLE_PATH.test(text.slice(whole.length)) ? text.slice(whole.length) : "";
      const at = groups.findIndex((group) => group !== undefined);
      const { from = "", to = "" } = ordered[at] ?? {};
      const isEscaped = isJson || /[^\\]\\\\/.test(groups[at] ?? "");
      mapped += text.slice(end, match.index) + writePath({ from, to, below: below + rest, isEscaped });
      end = match.index + whole.length + rest.length;
      path.lastIndex = end;
    }
    return mapped + text.slice(end);
  };
}

/** The expression of all ways to write a folder. */
function folderPattern(path: string): string {
  const folder = parseWindows(path);
  if (folder === null) return escapeForPattern(path);
  const { drive, isShare, names } = folder;
  const [name, ...below] = [drive, ...names].map(anyCase);
  const rest = below.map((one) => SEPARATOR + one).join("");
  if (isShare) return `(?:\\\\{2,8}\\?\\\\{1,4}UNC\\\\{1,4}|\\\\{2,8}|(?<!:)//)${name}${rest}`;
  return `(?:(?:(?:\\\\{2,8}|//)[?.]${SEPARATOR})?${name}:|/(?:mnt/|cygdrive/)?${name})${rest}`;
}

function anyCase(name: string): string {
  return Array.from(name, (letter) => {
    const [small, large] = [letter.toLowerCase(), letter.toUpperCase()];
    return small === large || small.length + large.length !== 2 * letter.length
      ? escapeForPattern(letter)
      : `[${small}${large}]`;
  }).join("");
}

/** A path below a folder as the machine of the other folder writes it. */
function writePath(path: RootMapping & { readonly below: string; readonly isEscaped: boolean }): string {
  const { from, to, below, isEscaped } = path;
  const root = to === "" ? "/" : `${to}\\`;
  const slash = to.includes("\\") || /^[A-Za-z]:$/.test(to) ? "\\" : "/";
  // Between two machines that write paths alike, what is below stays as it is: a backslash may be part of a name.
  const isAlike = slash === "/" && parseWindows(from) === null;
  const rest = isAlike ? below : below.replace(/\\{1,4}|\//g, slash);
  const written = rest !== "" || (to !== "" && !/^[A-Za-z]:$/.test(to)) ? to + rest : root;
  return isEscaped && slash === "\\" ? written.replaceAll("\\", "\\\\") : written;
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
