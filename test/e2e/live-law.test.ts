// @module-tag law
// @module-tag slow
// Whatever is done in a session while jpg compacts it and takes compactions back: the agent sends jpg's view, no turn is made or lost,
// and the history has exactly what was installed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PlayedAgent, playAgent, talkOn, viewedWords } from "../helpers/live-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { runs } from "../helpers/runs.ts";

const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("talk" as const), turns: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("compact" as const), by: fc.constantFrom("default", "light", "auto", "") }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("undo" as const), which: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("work" as const), times: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("escape" as const), marked: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("itself" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("keep" as const) }) },
);

/** A turn that is compacted in the middle, so many times; gives the compactions. */
async function workOn(
  sandbox: Sandbox,
  agent: PlayedAgent,
  { turn, times }: { readonly turn: number; readonly times: number },
): Promise<readonly string[]> {
  const made: string[] = [];
  agent.prompt(`Request ${turn}: look at the gauges`);
  for (let time = 0; time < times; time++) {
    agent.think(`gauge ${time}`);
    agent.tool(`gauge ${time}\n${"the tide is measured at the pier\n".repeat(100)}`);
    const answer = await agent.ask("compact", { trigger: "asked", instructions: "default", in_loop: true });
    if (answer.pass !== undefined) continue;
    agent.install(answer, { inLoop: true });
    made.push(answer.compaction ?? "");
    expect(agent.sent()).toEqual(await viewedWords(sandbox));
  }
  agent.say(`Answer ${turn}.`);
  return made;
}

describe("a session that is compacted while it runs", () => {
  it("sends jpg's view after each installed answer, and keeps its turns", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 8 }), async (acts) => {
        const sandbox = createSandbox();
        try {
          const agent = playAgent(sandbox);
          let turns = 4;
          talkOn(agent, 0, turns);
          const live: string[] = [];
          for (const one of acts) {
            if (one.do === "talk") {
              talkOn(agent, turns, turns + one.turns);
              turns += one.turns;
            } else if (one.do === "work") {
              for (const id of await workOn(sandbox, agent, { turn: turns++, times: one.times })) live.push(id);
            } else if (one.do === "itself") agent.compactItself(`What was said in ${turns} turns.`);
            else if (one.do === "keep") await agent.ask("keep");
            else if (one.do === "escape") {
              const answer = await agent.ask("compact", { trigger: "asked", instructions: "default" });
              if (one.marked && answer.pass === undefined) agent.mark(answer);
            } else {
              const named = live.at(-1 - (one.do === "undo" ? one.which : 0));
              const answer =
                one.do === "compact"
                  ? await agent.ask("compact", { trigger: "asked", instructions: one.by })
                  : await agent.ask("undo", named === undefined ? {} : { compaction: named });
              if (answer.pass !== undefined) continue;
              agent.install(answer);
              if (one.do === "compact") live.push(answer.compaction ?? "");
              else if (live.includes(answer.compaction ?? "")) live.splice(live.indexOf(answer.compaction ?? ""), 1);
              expect(agent.sent()).toEqual(await viewedWords(sandbox));
            }
          }
          talkOn(agent, turns, turns + 1);
          await agent.ask("compact", { trigger: "asked", instructions: "none of the profiles" });
          const [row] = await sandbox.json<readonly { turns: number }[]>(["ls"]);
          expect(row?.turns).toBe(turns + 1);
          const fsck = await sandbox.jpg(["fsck"]);
          expect(fsck.code, fsck.stdout + fsck.stderr).toBe(0);
        } finally {
          sandbox.remove();
        }
      }),
      { numRuns: runs(12) },
    );
  });
});
