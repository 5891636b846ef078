// The second file of a session, of agents that write one: it stands beside the session's file, and is never a session of its own
// where that one is there.
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CompanionRule } from "../../formats/session-source.ts";
import { agents } from "./session-registry.ts";

/** The name of the second file by that of the session's; null where there can be none. */
export function companionName(fileName: string, rule: CompanionRule | undefined): string | null {
  if (rule === undefined || !fileName.endsWith(rule.session)) return null;
  return `${fileName.slice(0, -rule.session.length)}${rule.companion}`;
}

/** The second file of a session, absolute; null where there is none. */
export function companionOf(path: string, rule: CompanionRule | undefined): string | null {
  const name = path === "-" ? null : companionName(basename(path), rule);
  return name === null ? null : ifThere(join(dirname(path), name));
}

/** The session, absolute, whose second file a path names; null for any other file. */
export function sessionOfCompanion(path: string): string | null {
  for (const { files } of agents()) {
    const rule = files.companion;
    if (rule === undefined || !path.endsWith(rule.companion)) continue;
    const session = ifThere(`${path.slice(0, -rule.companion.length)}${rule.session}`);
    if (session !== null) return session;
  }
  return null;
}

/** A link is none: the agent makes none. */
function ifThere(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null;
  } catch {
    return null; // nothing can be looked at there
  }
}
