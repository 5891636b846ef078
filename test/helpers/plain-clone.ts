// A person without jpg: a plain clone of the remote, and what stock git does there. No hook of jpg's, none of its settings.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { git, type TestEnvironment, testEnvironment } from "./temp-repository.ts";

/** A plain clone; each act does nothing where there is nothing to do it to, and is taken back where git ends in a conflict. */
export interface PlainClone {
  /** Gets what the remote has and merges it into each branch that is checked out here, as `git pull`. */
  pull(): void;
  /** Reverts the newest commit of a branch that adds or takes back a compaction, whoever made it. */
  revert(pick: number): void;
  /** Merges one branch into another; taken back where turns would go or not follow each other. */
  merge(pick: number): void;
  /** Sends all branches that are checked out here; those that are behind stay. Whether any was sent. */
  push(): boolean;
}

/** Clones a bare repository whose conversations stand as branches or as hidden refs. */
export function createPlainClone(folder: string, remote: string, as: "branches" | "hidden"): PlainClone {
  const root = join(folder, "plain");
  const env: TestEnvironment = testEnvironment(join(folder, "home"), {
    GIT_AUTHOR_NAME: "Cleo",
    GIT_COMMITTER_NAME: "Cleo",
    GIT_AUTHOR_DATE: "2026-05-01T20:00:00Z",
    GIT_COMMITTER_DATE: "2026-05-01T20:00:00Z",
  });
  mkdirSync(root);
  const run = (...args: string[]): string => git(root, env, args);
  const tries = (...args: string[]): boolean => {
    try {
      run(...args);
      return true;
    } catch {
      return false;
    }
  };
  const there = as === "branches" ? "refs/heads" : "refs/jpg/conversations";
  run("init", "--quiet", "--initial-branch=none/none");
  run("remote", "add", "origin", remote);
  run("config", "remote.origin.fetch", `+${there}/*:refs/remotes/origin/*`);
  const names = (refs: string): string[] =>
    run("for-each-ref", `--format=%(refname:lstrip=${refs.split("/").length})`, refs)
      .split("\n")
      .filter(Boolean);
  const own = (): string[] => names("refs/heads");
  const others = (): string[] => names("refs/remotes/origin").filter((name) => name !== "README");
  const mergeOrLeave = (branch: string, from: string): void => {
    run("switch", "--quiet", branch);
    if (!tries("merge", "--quiet", "--no-edit", from)) run("reset", "--quiet", "--hard", branch);
  };
  const fetch = (): void => void run("fetch", "--quiet", "--no-tags", "origin");
  /** Checks out one of the remote's branches. */
  const begin = (pick: number): string | null => {
    const all = others();
    const name = all[pick % Math.max(1, all.length)];
    if (name === undefined) return null;
    if (!own().includes(name)) run("branch", "--quiet", "--no-track", name, `refs/remotes/origin/${name}`);
    run("switch", "--quiet", name);
    return name;
  };
  return {
    pull() {
      fetch();
      for (const name of own()) if (others().includes(name)) mergeOrLeave(name, `refs/remotes/origin/${name}`);
    },
    revert(pick) {
      const name = begin(pick);
      if (name === null) return;
      const commit = run("log", "-1", "--no-merges", "--format=%H", "--", "compactions");
      if (commit === "" || /^(turn|fork|records|conversation)/.test(run("log", "-1", "--format=%s", commit))) return;
      if (!tries("revert", "--no-edit", commit)) run("reset", "--quiet", "--hard", name);
    },
    merge(pick) {
      const name = begin(pick);
      const other = others()[(pick >> 2) % Math.max(1, others().length)];
      if (name === null || other === undefined || other === name) return;
      const before = run("rev-parse", "HEAD");
      const turns = run("ls-tree", "-r", "HEAD", "turns");
      mergeOrLeave(name, `refs/remotes/origin/${other}`);
      if (run("ls-tree", "-r", "HEAD", "turns") !== turns) run("reset", "--quiet", "--hard", before);
    },
    push() {
      let sent = false;
      for (const name of own()) {
        const from = run("rev-parse", name);
        const at = tries("rev-parse", "--verify", "--quiet", `refs/remotes/origin/${name}`)
          ? run("rev-parse", `refs/remotes/origin/${name}`)
          : "";
        if (from === at || !tries("push", "--quiet", "origin", `${name}:${there}/${name}`)) continue;
        fetch();
        sent = true;
      }
      return sent;
    },
  };
}
