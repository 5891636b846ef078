// @module-tag law
// The laws of rendering: whatever a conversation holds and whatever compactions lie over it, every provider takes its view.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REQUEST_BODIES } from "../../../src/app/import/export.ts";
import { PROVIDER_CHECKS, type ProviderCheckOptions } from "../../../src/app/integrity/check.ts";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { checkGoogle } from "../../../src/core/model/google-rules.ts";
import { toNaiveList } from "../../../src/core/model/naive-messages.ts";
import { PROVIDER_NAMES, type ProviderName, recognizeRequest } from "../../../src/core/model/provider-rules.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { exportGoogle } from "../../../src/formats/google/write.ts";
import { allTurns } from "../../helpers/claude-session.ts";
import { corpusMissing, sharedFolder } from "../../helpers/corpus.ts";
import { foreignConversation } from "../../helpers/foreign-events.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";
import type { RandomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

/** What a provider would refuse in a view rendered for a model; a view that shows nothing is sent nothing. */
function refusals(
  view: View,
  provider: ProviderName,
  model: string | undefined,
  more: Partial<ProviderCheckOptions> = {},
) {
  const { render, check } = PROVIDER_CHECKS[provider];
  const options = model === undefined ? {} : { model };
  const list = render(view, options);
  if (list.length === 0) return [];
  const found = check(list, { ...options, complete: false, ...more });
  return found.filter(({ severity }) => severity === "error");
}

/** Each law draws the same conversations: their views are made once. */
function once(project: (drawn: RandomConversation) => View): (drawn: RandomConversation) => View {
  const made = new WeakMap<RandomConversation, View>();
  return (drawn) => {
    const view = made.get(drawn) ?? project(drawn);
    made.set(drawn, view);
    return view;
  };
}

const viewOf = once(({ turns, compactions }) => projectTurns(turns, compactions));
const noticedViewOf = once(({ turns, compactions }) => projectTurns(turns, compactions, { notice: true }));

describe.each(PROVIDER_NAMES)("a view rendered for %s", (provider) => {
  it("is taken, whatever the conversation and its compactions are", () => {
    fc.assert(
      fc.property(foreignConversation, (drawn) => {
        expect(refusals(viewOf(drawn), provider, drawn.model)).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("is taken with the notice of what it hides", () => {
    fc.assert(
      fc.property(foreignConversation, (drawn) => {
        expect(refusals(noticedViewOf(drawn), provider, drawn.model)).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("is accepted as it is when a request follows", () => {
    const request: Event = { type: "chat_request", id: "next", timestamp: "2026-03-01T00:00:00Z", content: "go on" };
    fc.assert(
      fc.property(foreignConversation, (drawn) => {
        const { turns, model } = drawn;
        const { turns: shown } = viewOf(drawn);
        const view: View = { turns: [...shown, { origin: { kind: "kept", turn: turns.length }, events: [request] }] };
        expect(refusals(view, provider, model, { complete: true })).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("is the same every time", () => {
    const { render } = PROVIDER_CHECKS[provider];
    fc.assert(
      fc.property(foreignConversation, ({ turns, compactions, model }) => {
        const options = model === undefined ? {} : { model };
        const [once, twice] = [0, 1].map(() => render(projectTurns(turns, compactions), options));
        expect(once).toEqual(twice);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe.each(PROVIDER_NAMES)("a body of a request for %s", (provider) => {
  it("names its model, is recognised and accepted as it is", () => {
    fc.assert(
      fc.property(foreignConversation, (drawn) => {
        const { model = "claude-opus-4-8" } = drawn;
        const body = REQUEST_BODIES[provider]({ model, view: viewOf(drawn) });
        const shape = recognizeRequest(JSON.parse(JSON.stringify(body)));
        expect(shape?.model).toBe(provider === "google" ? undefined : model);
        expect("max_tokens" in body).toBe(provider === "anthropic");
        if (shape === null || shape.list.length === 0) return;
        expect(shape.possible).toContain(provider);
        const found = PROVIDER_CHECKS[provider].check(shape.list, { model, complete: true });
        expect(found.filter(({ severity }) => severity === "error")).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("the conversations of these laws", () => {
  it("break the rules when nothing is repaired", () => {
    const broken = new Set<string>();
    for (const { turns, compactions, model } of fc.sample(foreignConversation, { seed: 7, numRuns: 300 })) {
      const view = projectTurns(turns, compactions);
      for (const provider of PROVIDER_NAMES) {
        const list = toNaiveList(view, provider).map(({ value }) => value);
        const options = { complete: false, ...(model !== undefined && { model }) };
        for (const { rule } of PROVIDER_CHECKS[provider].check(list, options)) broken.add(rule);
      }
    }
    const anthropic = ["A1", "A2", "A3", "A5", "A6", "A7", "A8", "A9", "A10", "A12", "A19"];
    const others = ["C0", "C1", "C2", "C3", "C4", "R0", "R1", "R2", "G0", "G1", "G3", "G4", "G5", "G7", "G9"];
    expect([...broken]).toEqual(expect.arrayContaining([...anthropic, ...others]));
  });
});

describe("a view that is sent to Gemini 3 as it is", () => {
  it("ends with the user and carries a signature in each step", () => {
    fc.assert(
      fc.property(foreignConversation, (drawn) => {
        const model = "gemini-3-pro";
        const { contents } = exportGoogle(viewOf(drawn), { model, complete: true });
        if (contents.length === 0) return;
        expect(checkGoogle(contents, { model }).filter(({ severity }) => severity === "error")).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe.skipIf(corpusMissing !== null)("real sessions", () => {
  const folder = join(sharedFolder, "corpus", "claude-code");
  const files = corpusMissing === null ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];

  it.each(files.filter((file) => file.endsWith(".jsonl")))("every provider takes the views of %s", (file) => {
    const session = readClaudeSession(createBufferSource(readFileSync(join(folder, file))));
    const turns = allTurns(session);
    const whole = (policies: object): View =>
      projectTurns(turns, [...session.compactions, makeCompaction("k", [0, turns.length - 1], policies, 28)]);
    const views = [
      projectTurns(turns, []),
      projectTurns(turns, session.compactions),
      whole({ reasoning: "strip", ...STRIP_TOOLS }),
      whole({ reasoning: "strip", attachments: "strip", tool_calls: { policy: "omit" } }),
    ];
    for (const provider of PROVIDER_NAMES)
      for (const view of views)
        for (const model of [undefined, "claude-opus-4-8", "gemini-3-pro"])
          expect(refusals(view, provider, model)).toEqual([]);
  });
});
