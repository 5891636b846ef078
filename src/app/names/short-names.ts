// The few characters that a person types for a conversation. Every list and hint names conversations by them.
import { conversationOf, suffixOf } from "../../core/conversation/name.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { preferredBranch } from "./conversations.ts";

/** A conversation's name and one of its branches. */
interface Named {
  readonly id: string;
  readonly branch: string;
}

/** The last characters of a name, which name the conversation, with the fork; the whole name where several end so. */
export function shortNames(rows: readonly Named[]): (row: Named) => string {
  const owners = new Map<string, Set<string>>();
  for (const { id } of rows) {
    if (id === "") continue;
    const suffix = suffixOf(id) ?? id;
    owners.set(suffix, (owners.get(suffix) ?? new Set()).add(id));
  }
  return ({ id, branch }) => {
    const suffix = suffixOf(id) ?? id;
    const name = owners.get(suffix)?.size === 1 ? suffix : id;
    const fork = branch.startsWith(`${id}/`) ? branch.slice(id.length + 1) : branch;
    return fork === "main" ? name : `${name}/${fork}`;
  };
}

/** Like `shortNames`, for any of these branches. */
export function shortNamesAmong(branches: readonly string[]): (branch: string) => string {
  const nameOf = shortNames(branches.map((branch) => ({ id: conversationOf(branch), branch })));
  return (branch) => nameOf({ id: conversationOf(branch), branch });
}

/** Like `shortNames`, for any branch of the store. */
export async function readShortNames({ store }: Pick<Workspace, "store">): Promise<(branch: string) => string> {
  return shortNamesAmong((await store.listBranches()).map(({ name }) => name));
}

/** What follows a verb that is to act on a branch: a blank and its short name; nothing for the active one. */
export async function wordFor(workspace: Workspace, branch: string): Promise<string> {
  if ((await preferredBranch(workspace)) === branch) return "";
  return ` ${(await readShortNames(workspace))(branch)}`;
}
