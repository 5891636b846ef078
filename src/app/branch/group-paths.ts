// The files of groups: compactions that one commit added as one, and the pins that came with them. Whoever takes one of them back
// takes all.
import { recordPath } from "../../core/conversation/compaction-line.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { BranchTree } from "./branch-tree.ts";
import type { LiveCompactions } from "./load-view.ts";
import { readMetas } from "./titles.ts";

/** Gives the files that go with the file of a compaction in force, itself included, as long as they are there. */
export async function groupPaths(
  workspace: Pick<Workspace, "store">,
  tree: BranchTree,
  { all }: Pick<LiveCompactions, "all">,
): Promise<(path: string) => readonly string[]> {
  const grouped = all.filter(({ group }) => group !== undefined);
  if (grouped.length === 0) return (path) => [path];
  const metas = await readMetas(workspace, tree);
  const paths = new Map<string, string[]>();
  const groups = new Map<string, string>();
  const add = (group: string, path: string): void => void paths.set(group, [...(paths.get(group) ?? []), path]);
  for (const { group = "", timestamp, id } of grouped) {
    const path = recordPath("compactions", timestamp, id);
    groups.set(path, group);
    add(group, path);
  }
  for (const { group, timestamp, id } of metas)
    if (typeof group === "string" && paths.has(group)) add(group, recordPath("meta", timestamp, id));
  return (path) => paths.get(groups.get(path) ?? "") ?? [path];
}
