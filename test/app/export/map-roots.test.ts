import { describe, expect, it } from "vitest";
import { mapRoots, parseRoots } from "../../../src/app/export/map-roots.ts";
import { JpgError } from "../../../src/core/errors.ts";
import type { Event } from "../../../src/core/event/event.ts";

const event = (content: string): Event =>
  ({ type: "chat_request", id: "e1", timestamp: "2026-03-01T09:00:00.000Z", content }) as Event;

/** A text as it reads with other roots. */
function mapped(text: string, ...words: readonly string[]): string {
  const view = { turns: [{ origin: { kind: "kept" as const, turn: 0 }, events: [event(text)] }] };
  const [read] = mapRoots(view, parseRoots(words, "/here")).turns.flatMap(({ events }) => events);
  return String((read as { readonly content?: unknown } | undefined)?.content);
}

describe("other roots", () => {
  it("stand for whole names of folders, whatever these are written in", () => {
    const text =
      "/home/ada/x /home/adaé/x /home/ada+work/x /home/ada~ /home/ada-2 é/home/ada /home/ada.d/x `/home/ada`.";
    expect(mapped(text, "/home/ada=/to")).toBe(
      "/to/x /home/adaé/x /home/ada+work/x /home/ada~ /home/ada-2 é/home/ada /home/ada.d/x `/to`.",
    );
  });

  it("may lie in one another, and are not mapped twice", () => {
    expect(mapped("/home/ada/x /home/ada/tide/y", "/home/ada=/a", "/home/ada/tide=/b")).toBe("/a/x /b/y");
    expect(mapped("/a/x /b/y", "/a=/b", "/b=/a")).toBe("/b/x /a/y");
    expect(mapped("/a/x", "/a=/a/deeper")).toBe("/a/deeper/x");
  });

  it("may be of a Windows machine on either side", () => {
    expect(mapped("C:\\Users\\ada\\x.ts C:\\Users\\adam", "C:\\Users\\ada=/to")).toBe("/to\\x.ts C:\\Users\\adam");
    expect(mapped("/home/ada/x", "/home/ada=C:\\Users\\ben")).toBe("C:\\Users\\ben/x");
  });

  it("may hold what means something in an expression, and may begin here", () => {
    expect(mapped("/a.b(c)/x /axb(c)/x", "/a.b(c)/=sub/")).toBe("/here/sub/x /axb(c)/x");
    expect(mapped("/a/x", "/a=/x=y")).toBe("/x=y/x");
  });

  it.each([
    [["="]],
    [[""]],
    [["a=/b"]],
    [["/=/b"]],
    [["//=/b"]],
    [["/a="]],
    [["=/b"]],
    [["/a=/b", "/a=/c"]],
    [["/a/=/b", "/a=/c"]],
  ])("are refused where they say nothing, or two things: %j", (words) => {
    expect(() => parseRoots(words, "/here")).toThrow(JpgError);
  });
});
