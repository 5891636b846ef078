// The workflow runs what is run here, on every system and version that jpg names. No such system is here: only its text is read.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { OLDEST_GIT } from "../../src/store/environment.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const text = readFileSync(join(ROOT, ".github/workflows/ci.yml"), "utf8");

interface Step {
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: {
    readonly check: {
      readonly strategy: {
        readonly matrix: {
          readonly os: readonly string[];
          readonly node: readonly number[];
          readonly git: readonly string[];
          readonly include: readonly { readonly os: string; readonly node: number; readonly git: string }[];
        };
      };
      readonly steps: readonly Step[];
    };
  };
}

// Parsed strictly: a key that is given twice is an error.
const workflow = parse(text) as Workflow;
const { strategy, steps } = workflow.jobs.check;

it("runs on three systems, from the oldest Node that jpg names, and with the oldest git", () => {
  const { os, node, git, include } = strategy.matrix;
  expect(os.map((name) => name.split("-")[0])).toEqual(["ubuntu", "macos", "windows"]);
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
  expect(Math.min(...node)).toBe(Number(/\d+/.exec(engines.node)?.[0]));
  expect(git).toEqual(["newest"]);
  expect(new Set(include.map((more) => more.git))).toEqual(new Set([OLDEST_GIT.replace(/\.0$/, "")]));
  for (const more of include) expect(node).toContain(more.node);
});

it("names only values of the matrix in its conditions", () => {
  const { os, git, include } = strategy.matrix;
  const known = new Set<string>([...os, ...git, ...include.map((more) => more.git), "true"]);
  const named = steps.flatMap((step) => [...(step.if ?? "").matchAll(/'([^']*)'/g)].map(([, value]) => value));
  expect(named.length).toBeGreaterThan(0);
  for (const value of named) expect(known).toContain(value);
});

it("ends with what is run here, and may only read", () => {
  expect(steps.at(-1)?.run).toBe("sh .ci/run");
  expect(workflow.permissions).toEqual({ contents: "read" });
});
