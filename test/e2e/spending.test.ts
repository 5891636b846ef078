// `jpg stats --all`: what the requests of the whole machine came to.
// @module-tag slow
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SpendingReport } from "../../src/app/overview/spending.ts";
import { answer, counted, meta, model, prompt, rolloutBytes } from "../helpers/codex-session.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

/** A request of `smallSession` in US dollars: 12 tokens sent and 3 answered, of a model at $3 and $15 a million. */
const REQUEST_USD = (12 * 3 + 3 * 15) / 1e6;
/** When Codex' session was, and Claude Code's. */
const BEFORE_BOTH = "2026-01-01";
const BETWEEN = "2026-02-01";

let sandbox: Sandbox;
let other: string;
beforeEach(() => {
  sandbox = createSandbox();
  other = join(sandbox.root, "other");
  mkdirSync(other);
  sandbox.git(["init", "-q"], other);
});
afterEach(() => sandbox.remove());

/** A session of Codex with one request: 90 tokens sent, 10 read from the cache, 5 answered. */
const codexSession = (name: string): string =>
  sandbox.session(
    "rollout.jsonl",
    rolloutBytes([meta(), model(name), prompt("Which kelp grows here?"), answer("Bull kelp."), counted(100)]),
  );

const spending = (since: string): Promise<SpendingReport> =>
  sandbox.json<SpendingReport>(["stats", "--all", "--since", since]);

it("counts each request once, by project, agent and model", async () => {
  await sandbox.jpg(["import", sandbox.session("a.jsonl", smallSession({ turns: 3 }))]);
  const once = await spending(BEFORE_BOTH);
  expect(once.total.requests).toBeGreaterThan(3);
  expect(once.total.price_usd).toBeCloseTo(once.total.requests * REQUEST_USD, 9);
  await sandbox.jpg(["fork"]);
  // The agent's own copy of the session, with the answers of the first.
  const copy = smallSession({ turns: 3, id: "5e551073-0000-4000-8000-0000000000c0" });
  await sandbox.jpg(["import", sandbox.session("copy.jsonl", copy)]);
  await sandbox.jpg(["import", codexSession("gpt-5.5")], { cwd: other });
  const { total, by_project, by_agent, by_model } = await spending(BEFORE_BOTH);
  expect(total).toMatchObject({ requests: once.total.requests + 1, tokens_sent: once.total.tokens_sent + 100 });
  expect(new Map(by_project.map(({ project, requests }) => [project, requests]))).toEqual(
    new Map([
      [sandbox.project, once.total.requests],
      [other, 1],
    ]),
  );
  for (const sums of [by_project, by_agent, by_model])
    expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(total.requests);
  expect(by_agent).toContainEqual(expect.objectContaining({ agent: "codex", requests: 1, input: 90, cache_read: 10 }));
  expect(by_model).toContainEqual({ ...once.total, model: "claude-sonnet-4-5-20250929" });
  expect((await spending(BETWEEN)).total).toEqual(once.total);
  expect(await sandbox.jpg(["stats", "--all", "--since", "2026-06-01"])).toMatchObject({ code: 1, stdout: "" });
});

it("puts no price on a model whose price is not known, and fits a screen", async () => {
  await sandbox.jpg(["import", sandbox.session("a.jsonl", smallSession({ turns: 2 }))]);
  await sandbox.jpg(["import", codexSession("kelp-9-preview")], { cwd: other });
  const { total, by_model } = await spending(BEFORE_BOTH);
  expect(by_model.at(-1)).toMatchObject({
    model: "kelp-9-preview",
    price_usd: null,
    unpriced: { requests: 1, tokens_sent: 100 },
  });
  expect(total.price_usd).toBeCloseTo((total.requests - 1) * REQUEST_USD, 9);
  const { stdout } = await sandbox.jpg(["stats", "--all", "--since", BEFORE_BOTH], { env: { COLUMNS: "80" } });
  expect(stdout).toMatch(/^kelp-9-preview +1 +100 +no price known$/m);
  expect(stdout).toMatch(/at least \$\S+\n$/);
});

it("says what is not imported, and leaves out a store that cannot be read", async () => {
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "5e551073-0000-4000-8000-0000000000a1.jsonl"), smallSession());
  await sandbox.jpg(["import", codexSession("gpt-5.5")], { cwd: other });
  const { stderr, stdout } = await sandbox.jpg(["stats", "--all", "--since", BEFORE_BOTH]);
  expect(stderr).toContain("what is new in 1 session that jpg has not imported; `jpg sync --all` imports it");
  expect(stdout).toContain("gpt-5.5");
  writeFileSync(join(other, ".git/jpg/.git/HEAD"), "nonsense");
  const damaged = await sandbox.jpg(["stats", "--all", "--since", BEFORE_BOTH]);
  expect(damaged.stderr).toContain(`Not counted: its store of ${other}:`);
  for (const words of [
    ["stats", "--since", "7d"],
    ["stats", "--all", "@"],
    ["stats", "--all", "--since", "soon"],
  ])
    expect((await sandbox.jpg(words)).code, words.join(" ")).toBe(2);
});
