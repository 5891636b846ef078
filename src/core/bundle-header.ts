// The head of a git bundle: which refs it brings, and what somebody must have already to read it.
import { parseBranchName } from "./conversation-name.ts";

/** What a bundle says of itself. */
export interface BundleHeader {
  /** Commits that whoever reads it must have. */
  readonly prerequisites: readonly string[];
  /** Where its pack begins, bytes; null when the head does not end in what was read, or the pack is of a kind that is not known. */
  readonly packAt: number | null;
  /** Branches of conversations in it; other refs are left out. */
  readonly branches: readonly { readonly name: string; readonly commit: string }[];
}

/** How a file begins that is a bundle. */
export const BUNDLE_START = "# v2 git bundle\n";
const OTHER_START = "# v3 git bundle\n";
const BRANCHES = "refs/heads/";

/** Reads the beginning of a file, a character a byte; null when it is no bundle. */
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

/** Writes the head of a bundle that needs nothing; the first branch is what a clone of it checks out. */
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
