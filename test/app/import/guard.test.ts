// The circuit breaker of `jpg sync --compact`, over a real store.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CompactReport } from "../../../src/app/compact/compact-report.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import { createGuard, type GuardState, guardBranch } from "../../../src/app/import/sync.ts";
import { createLongSession, type LongSession } from "../../helpers/long-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace } from "../../helpers/workspace.ts";

let base: GitWorkspace;
let session: LongSession;
let state: GuardState;
let said: string[];
let warned: string[];
beforeEach(async () => {
  base = await createGitWorkspace();
  session = createLongSession();
  state = createGuard();
  said = [];
  warned = [];
});
afterEach(() => removeWorkspace(base));

/** Takes in the session as it is, and guards it. */
async function pass(...overrides: string[]): Promise<CompactReport | null> {
  const { branch } = await importBytes(base, session.bytes());
  const small = ["auto.trigger_ratio=0.03", "auto.warning_ratio=0.02"];
  const settings = { store: base.temp.root, overrides: [...small, ...overrides] };
  const workspace = await openWorkspace(base.runtime, settings);
  try {
    return await guardBranch(workspace, branch, {
      state,
      model: null,
      window: null,
      place: "between_turns",
      notice: (text) => said.push(text),
      warn: (text) => warned.push(text),
    });
  } finally {
    await workspace.close();
  }
}

/** A profile that takes out next to nothing: sessions of these tests hold no reasoning. */
const LITTLE = ["conversation.compaction.profiles.little.reasoning=strip", "auto.profile=little"];

describe("a guard", () => {
  it("continues while its passes free enough, and says once how to resume", { tags: ["slow"] }, async () => {
    session.turns(8);
    expect(await pass()).not.toBeNull();
    session.turns(8);
    expect(await pass()).not.toBeNull();
    expect(said.filter((text) => text.includes("jpg resume"))).toHaveLength(1);
    expect(state.stopped.size).toBe(0);
  });

  it("leaves a session alone once a pass has freed less than a tenth, also when that grows", async () => {
    session.turns(8);
    await pass(...LITTLE);
    expect(state.stopped.size).toBe(1);
    expect(warned.filter((text) => text.includes("not tried again"))).toHaveLength(1);
    session.turns(8);
    expect(await pass()).toBeNull();
    expect(warned.filter((text) => text.includes("not tried again"))).toHaveLength(1);
    // Another guard has not given up.
    state = createGuard();
    session.turns(1);
    expect(await pass()).not.toBeNull();
  });

  it("gives nothing up that it did not try", async () => {
    session.turns(2);
    expect(await pass()).toBeNull();
    expect(state.stopped.size).toBe(0);
  });
});
