import { describe, expect, it } from "vitest";
import { largestChanges as countedChanges } from "../../../src/app/diff/diff-hunks.ts";
import type { View } from "../../../src/core/conversation/event.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { answer, call, kept, request, result, summary, thought, view } from "../../helpers/sample-view.ts";

const read = call("e1", "Read", { file_path: "src/a.ts" });
const content = result("e2", "e1", "const a = 1;\n".repeat(100));
const calm = answer("e3", "Done.");
const before = view(kept(0, request("e0", "Read it"), read, content, thought("t", "hm"), calm));

const largestChanges = (earlier: View, after: View, except?: ReadonlySet<string>) =>
  countedChanges({ before: earlier, after, meter: { countEvent: estimateEvent } }, except);

describe("largestChanges", () => {
  it("lists what is shorter, gone or new, the largest first, named with what it is about", () => {
    const stub = result("e2", "e1", "[compacted] Read: success");
    const fresh = answer("e9", "New.");
    const after = view(kept(0, request("e0", "Read it"), read, stub, calm, fresh));
    expect(largestChanges(before, after)).toEqual({
      count: 3,
      largest: [
        {
          turn: "turn 0",
          title: "tool result Read src/a.ts",
          tokens: { before: 434, after: 9 },
          before: "const a = 1;\n".repeat(100),
          after: "[compacted] Read: success",
        },
        { turn: "turn 0", title: "assistant (reasoning)", tokens: { before: 1, after: 0 }, before: "hm", after: null },
        { turn: "turn 0", title: "assistant", tokens: { before: 0, after: 1 }, before: null, after: "New." },
      ],
    });
  });

  it("leaves out stubs that read the same, and the texts of the compaction itself", () => {
    const stub = (): ReturnType<typeof result> => result("e2", "e1", "[compacted]");
    const own = summary(0, 0, "mine", request("s", "It was read."));
    expect(largestChanges(view(kept(0, stub())), view(kept(0, stub())))).toEqual({ count: 0, largest: [] });
    expect(largestChanges(view(kept(0, calm)), view(own, kept(1, calm)), new Set(["mine"])).count).toBe(0);
    expect(largestChanges(view(kept(0, calm)), view(own, kept(1, calm))).count).toBe(1);
  });

  it("counts by the given meter, in whole tokens", () => {
    const meter = { countEvent: () => 1.6 };
    const { largest } = countedChanges({ before: view(kept(0, calm)), after: view(kept(0)), meter });
    expect(largest[0]?.tokens).toEqual({ before: 2, after: 0 });
  });

  it("lists ten of many, and counts them all", () => {
    const many = Array.from({ length: 30 }, (_, at) => answer(`m${at}`, "x".repeat(40 * (at + 1))));
    const { count, largest } = largestChanges(view(kept(0, ...many)), view(kept(0)));
    expect([count, largest.length, largest[0]?.tokens.before]).toEqual([30, 10, 300]);
  });
});
