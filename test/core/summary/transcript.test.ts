import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/event.ts";
import type { PlacedEvent } from "../../../src/core/summary/placed-event.ts";
import { renderTranscript, writeEntries } from "../../../src/core/summary/transcript.ts";
import { answer, call, request, result, thought } from "../../helpers/sample-view.ts";

const LIMITS = { output: 40, speech: 1000 };
const at = (turn: number, ...events: readonly Event[]): PlacedEvent[] => events.map((event) => ({ turn, event }));
const render = (...events: readonly PlacedEvent[]) => renderTranscript(events, LIMITS);

describe("renderTranscript", () => {
  it("says who speaks, in which turn, and which tool a result is of", () => {
    const { text, mark, shortened } = render(
      ...at(
        2,
        request("a", "look"),
        thought("b", "hm"),
        call("c", "Bash", { command: "ls\npwd", all: true }),
        result("d", "c", "none", true),
      ),
      ...at(3, answer("e", "done")),
    );
    expect(text).toBe(
      [
        "@ turn 2",
        "@ user\nlook",
        "@ assistant thinks\nhm",
        "@ call of Bash\ncommand: ls\npwd\nall: true",
        "@ result of Bash (failed)\nnone",
        "@ turn 3",
        "@ assistant\ndone",
      ].join("\n"),
    );
    expect([mark, shortened]).toEqual(["@", 0]);
  });

  it("tells what was not typed by the user from what was", () => {
    const harness: Event = { ...request("a", "reminder"), role: "system", metadata: { origin: "harness" } };
    const queued: Event = { ...request("b", "and this"), metadata: { origin: "queued" } };
    const system: Event = { ...request("c", "rules"), role: "developer" };
    expect(render(...at(0, harness, queued, system)).text).toBe(
      "@ turn 0\n@ harness\nreminder\n@ user, while the assistant worked\nand this\n@ developer\nrules",
    );
  });

  it("keeps head and tail of long outputs, and counts them; what is said has more room", () => {
    const { text, shortened } = render(...at(0, request("a", "u".repeat(100)), result("b", "x", "r".repeat(200))));
    expect(text).toContain(`@ user\n${"u".repeat(100)}\n`);
    expect(text).toContain(`@ result of unknown tool\n${"r".repeat(20)}\n[compacted: 160 characters left out]\n`);
    expect(shortened).toBe(1);
  });

  it("names images and documents, and reads attachments", () => {
    const parts: Event = {
      ...request("a", ""),
      content: [
        { type: "text", text: "see" },
        { type: "image", media_type: "image/png", data: "AAAA" },
        { type: "attachment", name: "a.txt", text: "inside" },
        { type: "opaque", provider: "openai", value: {} },
      ],
    };
    expect(render(...at(0, parts)).text).toBe(
      "@ turn 0\n@ user\nsee\n[image image/png]\n[attachment a.txt]\ninside\n[what only openai can read]",
    );
  });

  it("passes over what no model is sent, and reasoning whose text was withheld", () => {
    const note: Event = { type: "note", id: "n", timestamp: "", kind: "progress" };
    expect(render(...at(0, note, thought("b", ""))).text).toBe("@ turn 0");
  });

  it("marks its own lines by what no text begins a line with", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom("@ user", "@1 end", "@2 ", "@", "x", "\r", "\n"), { maxLength: 6 }), {
          maxLength: 5,
        }),
        (bodies) => {
          const entries = bodies.map((words) => ({ label: "said", body: words.join("\n") }));
          const { text, mark } = writeEntries(entries);
          expect(text.split(/[\n\r]/).filter((line) => line.startsWith(`${mark} `))).toHaveLength(entries.length);
        },
      ),
    );
  });
});
