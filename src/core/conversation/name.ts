// Names of conversations and their branches: `<conversation>/<fork>`, where a conversation is the slug of its title and a short
// suffix. Every name made or accepted here is a legal git branch name (git-check-ref-format) and a plain file name.
import { type JpgError, userError } from "../errors.ts";

/** Longest slug, characters: leaves room for suffix and fork in a terminal's line. */
const MAX_SLUG = 40;
/** Longest part of a branch name, characters; file systems allow 255 bytes, lock files and reflogs add to it. */
const MAX_PART = 100;

/** Digits and letters without i, l, o and u, which are misread (Crockford's base 32, lower case). */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const BITS = 5;

/**
 * Words that git reads as something else. A branch `HEAD/…` keeps a repository from being cloned, because the clone's
 * `refs/remotes/origin/HEAD` is a file; `heads/x` is another name of `x`.
 */
const RESERVED_CONVERSATION = /^(?:(?:[a-z]+_)*head|refs|heads|tags|remotes)$/i;
const RESERVED_FORK = /^(?:[A-Z]+_)*HEAD$/;

interface BranchName {
  readonly conversation: string;
  readonly fork: string;
}

/** Makes the slug of a title: lower-case ASCII letters, digits and single hyphens, at most 40 characters, never empty. */
export function slugOf(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  if (plain.length <= MAX_SLUG) return plain === "" ? "conversation" : plain;
  const cut = plain.slice(0, MAX_SLUG + 1);
  const atWord = cut.lastIndexOf("-");
  return atWord > MAX_SLUG / 2 ? cut.slice(0, atWord) : plain.slice(0, MAX_SLUG);
}

/** Fewest characters that select a name by its beginning: shorter ones match too much by accident. */
export const SHORTEST_BEGINNING = 4;

/** Whether a word is the number of a turn: a name of digits only never counts as a name. */
export function isTurnNumber(word: string): boolean {
  // Forty digits are a commit's whole id.
  return /^\d{1,39}$/.test(word);
}

/** Whether a word may be the beginning of a name: long enough, and no turn number. */
export function mayBeBeginning(word: string): boolean {
  return word.length >= SHORTEST_BEGINNING && !isTurnNumber(word);
}

/** Abbreviates a commit id, with at least one letter in it: digits only would be the number of a turn. */
export function abbreviateCommit(commit: string, length = 9): string {
  let end = length;
  while (end < commit.length && isTurnNumber(commit.slice(0, end))) end += 1;
  return commit.slice(0, end);
}

/** Parts of ids that are cut to their beginning; of OpenCode's, the beginning is a time, and unique. */
const UUID = /([0-9a-f]{8})(-[0-9a-f]{4})(?:-[0-9a-f]{4}){2}-[0-9a-f]{12}/g;
const TIMED_ID = /^([a-z]{3}_[0-9a-f]{12})\w{14}/;
/** Of an imported compaction. */
const DERIVED_ID = /^([\da-z]{8})[\da-z]{5}$/;

/**
 * Abbreviates an id of a compaction, event or session for people: `0708a5fa.1` for event `0708a5fa-06bd-4274-b1fe-513c7202217e.1`.
 * Never digits only, which would be the number of a turn.
 */
export function abbreviateId(id: string): string {
  const short = id.replace(UUID, "$1").replace(TIMED_ID, "$1").replace(DERIVED_ID, "$1");
  return isTurnNumber(short) ? id.replace(UUID, "$1$2") : short;
}

/** Whether a word is an id, the beginning of it, or its abbreviation. */
export function isNamedBy(id: string, word: string): boolean {
  return id.startsWith(word) || abbreviateId(id) === word;
}

/** Finds what a word names: the thing with this id, else those abbreviated so, else those whose id begins with it. */
export function findNamed<Thing>(
  things: readonly Thing[],
  word: string,
  idOf: (thing: Thing) => string,
): readonly Thing[] {
  const exact = things.filter((thing) => idOf(thing) === word);
  if (exact.length > 0) return exact;
  const abbreviated = things.filter((thing) => abbreviateId(idOf(thing)) === word);
  return abbreviated.length > 0 ? abbreviated : things.filter((thing) => idOf(thing).startsWith(word));
}

/** The suffix of a conversation's name that jpg chose: `k3f9` of `fix-parser-k3f9`; null when it has none. */
export function suffixOf(conversation: string): string | null {
  return /-([0-9a-hjkmnp-tv-z]{4,})$/.exec(conversation)?.[1] ?? null;
}

/** Makes the id of a conversation, `fix-parser-k3f9`, from its title and a suffix (see shortId). */
export function conversationId(title: string, suffix: string): string {
  return `${slugOf(title)}-${suffix}`;
}

/**
 * Writes the start of a digest in base 32: `length` characters of 5 bits each, default 4. `hex` needs length × 5 / 4 hex
 * digits. Throws `bad_digest`.
 */
export function shortId(hex: string, length = 4): string {
  const needed = Math.ceil((length * BITS) / 4);
  if (hex.length < needed || !/^[0-9a-f]*$/i.test(hex)) {
    throw userError(
      "bad_digest",
      `An id of ${length} characters cannot be made from "${hex}": expected at least ${needed} hex digits.`,
    );
  }
  let bits = "";
  for (const digit of hex) bits += Number.parseInt(digit, 16).toString(2).padStart(4, "0");
  let id = "";
  for (let at = 0; id.length < length; at += BITS) id += DIGITS[Number.parseInt(bits.slice(at, at + BITS), 2)];
  return id;
}

/** Joins a conversation and a fork to a branch name. Throws `bad_name`. */
export function branchName(conversation: string, fork: string): string {
  const name = `${conversation}/${fork}`;
  parseBranchName(name);
  return name;
}

/** Splits a branch name `<conversation>/<fork>`. Throws `bad_name` saying which rule it breaks. */
export function parseBranchName(name: string): BranchName {
  const parts = name.split("/");
  if (parts.length !== 2) {
    throw badName(name, "expected <conversation>/<fork> with one slash", "try: my-talk-k3f9/main");
  }
  const [conversation, fork] = parts as [string, string];
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== null) throw badName(name, problem, `try: ${validPart(conversation)}/${validPart(fork)}`);
  }
  const reserved = reservedPart(name);
  if (reserved !== null)
    throw badName(
      name,
      `"${reserved}" means something else to git`,
      `try: ${unreservedPart(conversation)}/${unreservedPart(fork)}`,
    );
  return { conversation, fork };
}

/** Whether this can be the name of a conversation: a legal part of a branch name and a plain file name. */
export function isConversationName(name: string): boolean {
  return problemOf(name) === null && !RESERVED_CONVERSATION.test(name);
}

/** The part of a branch name that git reads as something else; null when none is. */
export function reservedPart(name: string): string | null {
  const [conversation, fork] = [conversationOf(name), forkOf(name)];
  if (conversation === name) return null;
  if (RESERVED_CONVERSATION.test(conversation)) return conversation;
  return RESERVED_FORK.test(fork) ? fork : null;
}

/** The conversation part of a branch name: all before the last `/`. */
export function conversationOf(branch: string): string {
  const slash = branch.lastIndexOf("/");
  return slash < 0 ? branch : branch.slice(0, slash);
}

/** The fork part of a branch name, e.g. `main`. */
export function forkOf(branch: string): string {
  return branch.slice(branch.lastIndexOf("/") + 1);
}

/**
 * Finds a name that differs from another in letter case alone: file systems of macOS and Windows store both as one file, and
 * git stores each branch in a file.
 */
export function differingByCase(name: string, names: Iterable<string>): string | undefined {
  const folded = name.toLowerCase();
  for (const other of names) if (other !== name && other.toLowerCase() === folded) return other;
  return undefined;
}

/** Names that Windows gives to devices, with any ending: git keeps a branch in a file of its name, which cannot be made there. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a part of a branch name is the name of a device on Windows. */
export function isDeviceName(part: string): boolean {
  return DEVICE.test(part);
}

/**
 * The branches that a system cannot keep, because git keeps a branch in a file of its name: devices of Windows, and all but one of
 * those that differ by case alone. `platform`: the system's name in node.
 */
export function unfitBranches(names: readonly string[], platform: string | undefined): readonly string[] {
  if (platform !== "win32" && platform !== "darwin") return [];
  const isDevice = (name: string): boolean => platform === "win32" && name.split("/").some(isDeviceName);
  const kept: string[] = [];
  return names.filter((name) => {
    const isUnfit = isDevice(name) || differingByCase(name, kept) !== undefined;
    if (!isUnfit) kept.push(name);
    return isUnfit;
  });
}

/** A part as it is, or the nearest valid one. */
function validPart(part: string): string {
  return problemOf(part) === null ? part : slugOf(part);
}

/** A part as it is, or one that git does not read as something else. */
function unreservedPart(part: string): string {
  return RESERVED_CONVERSATION.test(part) ? `my-${slugOf(part)}` : part;
}

function problemOf(part: string): string | null {
  if (part === "") return "a part is empty";
  if (part.length > MAX_PART) return `a part is longer than ${MAX_PART} characters`;
  if (!/^[A-Za-z0-9._-]+$/.test(part)) return "expected only `A-Z a-z 0-9 . _ -`";
  if (/^[.-]/.test(part)) return "a part begins with a dot or a hyphen";
  if (part.includes("..") || part.endsWith(".") || part.toLowerCase().endsWith(".lock")) {
    return "a part holds two dots in a row or ends in a dot or .lock";
  }
  return null;
}

function badName(name: string, reason: string, hint: string): JpgError {
  const shown = name.length > MAX_PART * 2 ? `${name.slice(0, MAX_PART)}…` : name;
  return userError("bad_name", `"${shown}" cannot name a branch of a conversation: ${reason}.`, {
    data: { name, reason },
    hints: [hint],
  });
}

/** The header of a git bundle. */
export interface BundleHeader {
  /** Commits that the reader must have. */
  readonly prerequisites: readonly string[];
  /** Where its pack begins, bytes; null when the header is longer than what was read, or the pack is of an unknown kind. */
  readonly packAt: number | null;
  /** Branches of conversations in it; other refs are left out. */
  readonly branches: readonly { readonly name: string; readonly commit: string }[];
}

/** The first line of a bundle. */
export const BUNDLE_START = "# v2 git bundle\n";
const OTHER_START = "# v3 git bundle\n";
const BRANCHES = "refs/heads/";

/** Parses the beginning of a file, read as Latin-1; null when it is no bundle. */
export function parseBundleHeader(text: string): BundleHeader | null {
  if (!text.startsWith(BUNDLE_START) && !text.startsWith(OTHER_START)) return null;
  const end = text.indexOf("\n\n");
  const lines = (end < 0 ? "" : text.slice(0, end)).split("\n").slice(1);
  const branches = new Map<string, string>();
  const prerequisites: string[] = [];
  for (const line of lines) {
    const [, missing] = /^-([0-9a-f]{40})\b/.exec(line) ?? [];
    if (missing !== undefined) prerequisites.push(missing);
    const [, commit = "", ref = ""] = /^([0-9a-f]{40}) (\S+)$/.exec(line) ?? [];
    const name = ref.startsWith(BRANCHES) ? ref.slice(BRANCHES.length) : "";
    if (isBranch(name)) branches.set(name, commit);
  }
  const isKnown = end >= 0 && lines.every((line) => !line.startsWith("@") || line === "@object-format=sha1");
  const packAt = isKnown ? end + 2 : null;
  return { prerequisites, packAt, branches: [...branches].map(([name, commit]) => ({ name, commit })) };
}

/** Formats the header of a bundle without prerequisites; a clone checks out the first branch. */
export function formatBundleHeader(branches: BundleHeader["branches"]): string {
  const [first] = branches;
  const refs = branches.map(({ name, commit }) => `${commit} ${BRANCHES}${name}\n`);
  return `${BUNDLE_START}${refs.join("")}${first === undefined ? "" : `${first.commit} HEAD\n`}\n`;
}

function isBranch(name: string): boolean {
  try {
    parseBranchName(name);
    return true;
  } catch {
    return false; // somebody else's ref
  }
}
