// Reads git's configuration files (git-config(1)) as far as jpg reads them without git.

/** One setting; its name in lower case but for a subsection, e.g. `branch.a/Main.merge`. */
export interface Setting {
  readonly name: string;
  readonly value: string;
}

const HEADER = /^[ \t]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\]/;
const KEY = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=)?/;

/** All settings of a file, in its order. A name without a value is `true`. */
export function parseConfig(text: string): readonly Setting[] {
  const settings: Setting[] = [];
  let section = "";
  let left = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  while (left !== "") {
    const [header = "", name = "", subsection] = HEADER.exec(left) ?? [];
    if (header !== "") section = name.toLowerCase() + (subsection === undefined ? "" : `.${unquote(subsection)}`);
    left = left.slice(header.length);
    const [start = "", key, equals] = KEY.exec(left) ?? [];
    const { value, length } = parseValue(left.slice(start.length));
    if (key !== undefined)
      settings.push({ name: `${section}.${key.toLowerCase()}`, value: equals === undefined ? "true" : value });
    left = left.slice(start.length + length);
  }
  return settings;
}

/** The last value of a setting, by its name in lower case; undefined where it does not stand. */
export function readSetting(text: string, name: string): string | undefined {
  return findSetting(parseConfig(text), name);
}

/** The last value among settings, by its name in lower case. */
export function findSetting(settings: readonly Setting[], name: string): string | undefined {
  return settings.findLast((setting) => setting.name === name)?.value;
}

/** Whether a value says yes, as git reads a boolean; one that is not set does not. */
export function isTrue(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(true|yes|on)$/i.test(value) || (isNumber(value) && !isFalse(value));
}

/** Whether a value says no, as git reads a boolean; one that is not set does not. */
export function isFalse(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(false|no|off|)$/i.test(value) || (isNumber(value) && /^[-+]?(0x)?0+[kmg]?$/i.test(value));
}

function isNumber(value: string): boolean {
  return /^[-+]?(0x[0-9a-f]+|[0-9]+)[kmg]?$/i.test(value);
}

/** Reads the rest of a line, and of those in which it goes on: quotes are taken off, a comment that does not stand between them away. */
function parseValue(text: string): { readonly value: string; readonly length: number } {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  let length = 0;
  for (const [token] of text.matchAll(/\\[\s\S]|[\s\S]/g)) {
    if (token === "\n" || (!isQuoted && /^[#;]/.test(token))) break;
    length += token.length;
    const isBlank = !isQuoted && token.trim() === "";
    if (token === '"') isQuoted = !isQuoted;
    else if (!isBlank || value !== "") value += unquote(token);
    // Blanks at the end count only between quotes.
    if (!isBlank) kept = value.length;
  }
  const end = text.indexOf("\n", length);
  return { value: value.slice(0, kept), length: end < 0 ? text.length : end + 1 };
}

/** Takes backslashes off; a line that ends with one goes on in the next. */
function unquote(text: string): string {
  const named: Record<string, string> = { n: "\n", t: "\t", b: "\b", "\n": "" };
  return text.replace(/\\([\s\S])/g, (_, char: string) => named[char] ?? char);
}
