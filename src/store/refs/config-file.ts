// Reads git's configuration files (git-config(1)) as far as jpg reads them without git. Files that they include are not looked into.

/** One setting; its name in lower case but for a subsection, e.g. `branch.a/Main.merge`. */
export interface Setting {
  readonly name: string;
  readonly value: string;
}

const HEADER = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const VALUE = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/;

/** All settings of a file, in its order. A name without a value is `true`. */
export function parseConfig(text: string): readonly Setting[] {
  const settings: Setting[] = [];
  let section = "";
  // A line that ends with a backslash goes on in the next one.
  for (const line of text.replace(/\\\r?\n/g, "").split("\n")) {
    const [header = "", name = "", subsection] = HEADER.exec(line) ?? [];
    if (header !== "") section = name.toLowerCase() + (subsection === undefined ? "" : `.${unquote(subsection)}`);
    const [, key, value] = VALUE.exec(line.slice(header.length).replace(/\r$/, "")) ?? [];
    if (key !== undefined) {
      settings.push({
        name: `${section}.${key.toLowerCase()}`,
        value: value === undefined ? "true" : parseValue(value),
      });
    }
  }
  return settings;
}

/** The last value of a setting, by its name in lower case; undefined where it does not stand. */
export function readSetting(text: string, name: string): string | undefined {
  return parseConfig(text).findLast((setting) => setting.name === name)?.value;
}

/** Whether a value says yes, as git reads a boolean; one that is not set does not. */
export function isTrue(value: string | undefined): boolean {
  return ["true", "yes", "on", "1"].includes(value?.toLowerCase() ?? "");
}

/** Takes quotes off, and a comment away that does not stand between them. */
function parseValue(text: string): string {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (char === "#" || char === ";")) break;
    else if (char === "\\") value += unquote(text.slice(at, ++at + 1));
    else value += char;
    // Blanks at the end count only between quotes.
    if (isQuoted || char.trim() !== "") kept = value.length;
  }
  return value.slice(0, kept);
}

function unquote(text: string): string {
  return text.replace(/\\(.)/g, (_, char: string) => ({ n: "\n", t: "\t", b: "\b" })[char] ?? char);
}
