// Tells a config file that only says what jpg and a stock clone write into one, so that git need not be asked what it means.
// It never takes a line for harmless that git reads as something else: what it does not know is not plain.

/** Names that may stand in a plain section; by the section, with its subsection where that matters. */
const PLAIN: ReadonlyMap<string, RegExp> = new Map([
  [
    "core",
    /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|hookspath|sparsecheckout|sparsecheckoutcone|splitindex|sharedrepository)$/,
  ],
  ["index", /^sparse$/],
  ["gc", /^auto$/],
  ["maintenance", /^(auto|strategy)$/],
  ["merge", /^renames$/],
  ["jpg", /^[a-z]+$/],
  ["user", /^(name|email|signingkey)$/],
  ["author", /^(name|email)$/],
  ["committer", /^(name|email)$/],
  ["commit", /^gpgsign$/],
  ["branch", /^(remote|merge|rebase|mergeoptions|description)$/],
  ["remote", /^(url|pushurl|fetch|push|tagopt)$/],
  // jpg's own; and jpg starts no git that converts texts.
  ['diff "jpg"', /^textconv$/],
]);

const HEADER = /^[ \t]*\[([a-z]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?\][ \t]*\r?$/i;
const VALUE = /^[ \t]*([a-z][a-z0-9-]*)[ \t]*(?:=(.*))?\r?$/i;
const NOTHING = /^[ \t]*(?:[#;].*)?\r?$/;

/** The sections that jpg writes for each branch: left out at once, for there are as many as conversations. */
const BRANCH_SECTIONS =
  /^\[branch "(?:[^"\\\n]|\\.)*"\]\n\t(?:mergeOptions = -Xfind-renames=100%|remote = [\w-]+\n\tmerge = "(?:[^"\\\n]|\\.)*")\n/gm;

/** Whether all that a config file says is known to name no program, no other file and no other place. */
export function isPlainConfig(text: string): boolean {
  let names: RegExp | undefined;
  for (const line of text.replace(BRANCH_SECTIONS, "").split("\n")) {
    // A value that goes on in the next line is left to git.
    if (/\\\r?$/.test(line)) return false;
    if (NOTHING.test(line)) continue;
    const [header, section = "", subsection] = HEADER.exec(line) ?? [];
    if (header !== undefined) {
      const name = section.toLowerCase();
      names = PLAIN.get(subsection === undefined ? name : `${name} "${subsection}"`) ?? PLAIN.get(name);
    } else if (names?.test(VALUE.exec(line)?.[1]?.toLowerCase() ?? "") !== true) return false;
  }
  return true;
}

/** A setting of a section that has a subsection, such as `remote "team"`. */
export interface SubsectionSetting {
  /** As it was written. */
  readonly subsection: string;
  /** In lower case. */
  readonly key: string;
  /** Empty where a key stands alone. */
  readonly value: string;
}

/** The settings of `[section "…"]` in a plain config file, in its order; null for a file that git has to read. */
export function parseSubsections(text: string, section: string): readonly SubsectionSetting[] | null {
  if (!isPlainConfig(text)) return null;
  const settings: SubsectionSetting[] = [];
  let subsection: string | undefined;
  for (const line of text.split("\n")) {
    const [header, name = "", quoted] = HEADER.exec(line) ?? [];
    if (header !== undefined) {
      subsection = name.toLowerCase() === section && quoted !== "" ? quoted?.replace(/\\(.)/g, "$1") : undefined;
      continue;
    }
    const [, key, written = ""] = VALUE.exec(line) ?? [];
    if (subsection === undefined || key === undefined) continue;
    const value = readValue(written.trim());
    if (value === null) return null;
    settings.push({ subsection, key: key.toLowerCase(), value });
  }
  return settings;
}

/** A value that is in quotes as a whole or not at all; null for what else git takes for one. */
function readValue(written: string): string | null {
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(written) ?? [];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, "$1");
  return /["\\#;\t\v\f\r]/.test(written) ? null : written;
}
