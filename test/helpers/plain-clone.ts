// A person without jpg: a plain clone of the remote, and what stock git does there. No hook of jpg's, none of its settings.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readHeadBranch, readRefs } from "./ref-files.ts";
import { git, type TestEnvironment, testEnvironment } from "./temp-repository.ts";

/** A plain clone; what ends in a conflict is taken back. */
export interface PlainClone {
  readonly gitDir: string;
  /** Whether the remote has what was not fetched. */
  isBehind(): boolean;
  /** Gets what the remote has and merges it into each branch that is checked out here, as `git pull`. */
  pull(): void;
  /** Branches whose newest commit that adds or takes back a compaction can be reverted, whoever made it. */
  revertible(): readonly string[];
  revert(name: string): void;
  /** Pairs of branches of which the first lacks commits of the other. */
  mergeable(): readonly (readonly [string, string])[];
  /** Merges one branch into another; taken back where turns would go or not follow each other. */
  merge(name: string, other: string): void;
  /** Whether a branch that is checked out here stands elsewhere than on the remote. */
  isAhead(): boolean;
  /** Sends all branches that are checked out here; those that are behind stay. */
  push(): void;
}

const PLACES = { branches: "refs/heads/", hidden: "refs/jpg/conversations/" } as const;

/** Where a remote's conversations stand. */
export function remoteRefs(remote: string, as: keyof typeof PLACES): ReadonlyMap<string, string> {
  return new Map([...readRefs(remote, PLACES[as])].filter(([name]) => name.includes("/")));
}

/** Clones a bare repository whose conversations stand as branches or as hidden refs. */
export function createPlainClone(folder: string, remote: string, as: "branches" | "hidden"): void {
  const root = join(folder, "plain");
  mkdirSync(root);
  const env = testEnvironment(join(folder, "home"));
  git(root, env, ["init", "--quiet", "--template=", "--initial-branch=none/none"]);
  git(root, env, ["remote", "add", "origin", remote]);
  git(root, env, ["config", "remote.origin.fetch", `+${PLACES[as]}*:refs/remotes/origin/*`]);
  git(root, env, ["config", "maintenance.auto", "false"]);
  git(root, env, ["fetch", "--quiet", "--no-tags", "origin"]);
}

/** What is done in a plain clone that is there. */
export function openPlainClone(folder: string, remote: string, as: "branches" | "hidden"): PlainClone {
  const root = join(folder, "plain");
  const gitDir = join(root, ".git");
  const env: TestEnvironment = testEnvironment(join(folder, "home"), {
    GIT_AUTHOR_NAME: "Cleo",
    GIT_COMMITTER_NAME: "Cleo",
    GIT_AUTHOR_DATE: "2026-05-01T20:00:00Z",
    GIT_COMMITTER_DATE: "2026-05-01T20:00:00Z",
  });
  const run = (...args: string[]): string => git(root, env, args);
  const tries = (...args: string[]): boolean => {
    try {
      run(...args);
      return true;
    } catch {
      return false;
    }
  };
  const own = (): ReadonlyMap<string, string> => readRefs(gitDir, "refs/heads/");
  const others = (): ReadonlyMap<string, string> =>
    new Map([...readRefs(gitDir, "refs/remotes/origin/")].filter(([name]) => name.includes("/")));
  const standOn = (name: string): void => {
    if (readHeadBranch(gitDir) !== name) run("switch", "--quiet", name);
  };
  const mergeOrLeave = (branch: string, from: string): void => {
    standOn(branch);
    if (!tries("merge", "--quiet", "--no-edit", from)) run("reset", "--quiet", "--hard", branch);
  };
  const tipOf = (name: string): string => own().get(name) ?? others().get(name) ?? "";
  /** Checks out one of the remote's branches. */
  const begin = (name: string): void => {
    if (!own().has(name)) run("branch", "--quiet", "--no-track", name, `refs/remotes/origin/${name}`);
    standOn(name);
  };
  const compaction = (name: string): string | null => {
    const [commit = "", subject = ""] = run(
      "log",
      "-1",
      "--no-merges",
      "--format=%H%n%s",
      tipOf(name),
      "--",
      "compactions",
    ).split("\n");
    return commit === "" || /^(turn|fork|records|conversation)/.test(subject) ? null : commit;
  };
  const isBehind = (): boolean => {
    const known = others();
    return [...remoteRefs(remote, as)].some(([name, commit]) => known.get(name) !== commit);
  };
  const ahead = (): readonly string[] =>
    [...own()].filter(([name, commit]) => others().get(name) !== commit).map(([name]) => name);
  const fetch = (): void => {
    if (isBehind()) run("fetch", "--quiet", "--no-tags", "origin");
  };
  return {
    gitDir,
    isBehind,
    pull() {
      fetch();
      for (const name of ahead()) if (others().has(name)) mergeOrLeave(name, `refs/remotes/origin/${name}`);
    },
    revertible: () => [...others().keys()].filter((name) => compaction(name) !== null),
    revert(name) {
      const commit = compaction(name) ?? "";
      begin(name);
      if (!tries("revert", "--no-edit", commit)) run("reset", "--quiet", "--hard", name);
    },
    mergeable() {
      const names = [...others().keys()];
      const lacking = (name: string): readonly string[] =>
        run("for-each-ref", "--format=%(refname:lstrip=3)", `--no-merged=${tipOf(name)}`, "refs/remotes/origin").split(
          "\n",
        );
      return names.flatMap((name) => {
        const some = lacking(name);
        return names.filter((other) => other !== name && some.includes(other)).map((other) => [name, other] as const);
      });
    },
    merge(name, other) {
      begin(name);
      const before = tipOf(name);
      mergeOrLeave(name, `refs/remotes/origin/${other}`);
      const [turns, turnsBefore] = run("rev-parse", "HEAD:turns", `${before}:turns`).split("\n");
      if (turns !== turnsBefore) run("reset", "--quiet", "--hard", before);
    },
    isAhead: () => ahead().length > 0,
    push() {
      for (const name of ahead()) tries("push", "--quiet", "origin", `${name}:${PLACES[as]}${name}`);
      fetch();
    },
  };
}
