import { describe, expect, it } from "vitest";
import { mapRoots, parseRoots } from "../../../src/app/import/export.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { JpgError } from "../../../src/core/errors.ts";

const event = (content: string): Event =>
  ({ type: "chat_request", id: "e1", timestamp: "2026-03-01T09:00:00.000Z", content }) as Event;

/** A text as it reads with other roots. */
function mapped(text: string, ...words: readonly string[]): string {
  const view = { turns: [{ origin: { kind: "kept" as const, turn: 0 }, events: [event(text)] }] };
  const [read] = mapRoots(view, parseRoots(words, "/here")).turns.flatMap(({ events }) => events);
  return String((read as { readonly content?: unknown } | undefined)?.content);
}

describe("other roots", () => {
  it("match whole names of folders in any script", () => {
    const text =
      "/home/ada/x /home/adaé/x /home/ada+work/x /home/ada~ /home/ada-2 é/home/ada /home/ada.d/x `/home/ada`.";
    expect(mapped(text, "/home/ada=/to")).toBe(
      "/to/x /home/adaé/x /home/ada+work/x /home/ada~ /home/ada-2 é/home/ada /home/ada.d/x `/to`.",
    );
  });

  it("match accented letters in either form of Unicode", () => {
    const [one, two] = ["/home/ada/café".normalize("NFC"), "/home/ada/café".normalize("NFD")];
    for (const root of [one, two]) expect(mapped(`${one}/x ${two}/y`, `${root}=/to`)).toBe("/to/x /to/y");
  });

  it("may lie in one another, and are not mapped twice", () => {
    expect(mapped("/home/ada/x /home/ada/tide/y", "/home/ada=/a", "/home/ada/tide=/b")).toBe("/a/x /b/y");
    expect(mapped("/a/x /b/y", "/a=/b", "/b=/a")).toBe("/b/x /a/y");
    expect(mapped("/a/x", "/a=/a/deeper")).toBe("/a/deeper/x");
  });

  const APP = "C:\\Users\\ada\\app";
  it.each([
    ["C:\\Users\\ada\\app\\src\\x.ts", "/to/src/x.ts"],
    ["C:/Users/ada/app/src/x.ts", "/to/src/x.ts"],
    ["c:\\users\\Ada\\APP\\src\\x.ts", "/to/src/x.ts"],
    ["C:\\Users/ada\\app/src\\x.ts", "/to/src/x.ts"],
    ["/c/Users/ada/app/src/x.ts", "/to/src/x.ts"],
    ["/mnt/c/Users/ada/app/src/x.ts", "/to/src/x.ts"],
    ["/cygdrive/c/Users/ada/app/x.ts", "/to/x.ts"],
    ["\\\\?\\C:\\Users\\ada\\app\\src\\x.ts", "/to/src/x.ts"],
    ["//?/C:/Users/ada/app/x.ts", "/to/x.ts"],
    ["C:\\Users\\ada\\app", "/to"],
    ["C:\\Users\\ada\\app\\", "/to/"],
    ["C:\\Users\\ada\\app\\My Notes\\a (1).txt", "/to/My Notes/a (1).txt"],
    ["C:\\Users\\ada\\app\\app\\[slug]\\page.tsx", "/to/app/[slug]/page.tsx"],
    ["cd C:\\Users\\ada\\app\\src && grep \\d x", "cd /to/src && grep \\d x"],
    ["C:\\Users\\ada\\app\\a.ts is wrong, use \\d", "/to/a.ts is wrong, use \\d"],
    ["at C:\\Users\\ada\\app\\a.ts:12:5, then D:\\b\\c", "at /to/a.ts:12:5, then D:\\b\\c"],
    ['{"file":"C:\\\\Users\\\\ada\\\\app\\\\src\\\\x.ts","n":"\\n"}', '{"file":"/to/src/x.ts","n":"\\n"}'],
    ["'C:\\\\Users\\\\ada\\\\app\\\\x.ts'", "'/to/x.ts'"],
    ["C:\\Users\\ada\\app2\\x.ts", "C:\\Users\\ada\\app2\\x.ts"],
    ["C:\\Users\\ada\\app.old\\x.ts", "C:\\Users\\ada\\app.old\\x.ts"],
    ["C:\\Users\\adam\\app", "C:\\Users\\adam\\app"],
    ["D:\\Users\\ada\\app", "D:\\Users\\ada\\app"],
    ["XC:\\Users\\ada\\app", "XC:\\Users\\ada\\app"],
    ["https://host/c/Users/ada/app", "https://host/c/Users/ada/app"],
    ["/srv/mnt/c/Users/ada/app/x", "/srv/mnt/c/Users/ada/app/x"],
  ])("of a Windows machine are known however they are written: %j", (text, wanted) => {
    for (const root of [
      APP,
      `${APP}\\`,
      "c:/Users/ada/app//",
      "\\\\?\\C:\\Users\\ada\\app",
      "/c/Users/ada/app",
      "/mnt/c/Users/ada/app",
    ])
      expect(mapped(text, `${root}=/to`)).toBe(wanted);
  });

  it("may be shares of a server", () => {
    for (const root of ["\\\\tide\\work\\app", "//tide/work/app/", "\\\\?\\UNC\\Tide\\work\\app"]) {
      expect(mapped("\\\\tide\\work\\app\\src\\x.ts", `${root}=/to`)).toBe("/to/src/x.ts");
      expect(mapped("//TIDE/work/app/src/x.ts", `${root}=/to`)).toBe("/to/src/x.ts");
      expect(mapped("\\\\?\\UNC\\tide\\work\\app\\x.ts", `${root}=/to`)).toBe("/to/x.ts");
      expect(mapped('["\\\\\\\\tide\\\\work\\\\app\\\\x.ts"]', `${root}=/to`)).toBe('["/to/x.ts"]');
      expect(mapped("\\\\tide\\work\\app2\\x.ts", `${root}=/to`)).toBe("\\\\tide\\work\\app2\\x.ts");
      expect(mapped("https://tide/work/app/x", `${root}=/to`)).toBe("https://tide/work/app/x");
    }
  });

  it("become folders of a Windows machine, with its slashes", () => {
    const to = (text: string, root: string) => mapped(text, `/home/ada=${root}`);
    expect(to("/home/ada/src/x.ts", "C:\\Users\\ben")).toBe("C:\\Users\\ben\\src\\x.ts");
    expect(to("/home/ada/src/x.ts", "C:\\Users\\ben\\")).toBe("C:\\Users\\ben\\src\\x.ts");
    expect(to("/home/ada/src/x.ts", "C:/Users/ben")).toBe("C:/Users/ben/src/x.ts");
    expect(to("/home/ada/src/x.ts", "D:\\")).toBe("D:\\src\\x.ts");
    expect(to("/home/ada", "D:\\")).toBe("D:\\");
    expect(to("/home/ada/src/x.ts", "\\\\tide\\work")).toBe("\\\\tide\\work\\src\\x.ts");
    expect(to("ls /home/ada/src /usr/bin PATH=/home/ada/bin:/bin", "C:\\b")).toBe(
      "ls C:\\b\\src /usr/bin PATH=C:\\b\\bin:/bin",
    );
    expect(JSON.parse(to('{"file":"/home/ada/src/x.ts"}', "C:\\b"))).toEqual({ file: "C:\\b\\src\\x.ts" });
    expect(mapped("C:\\a\\x.ts 'C:\\\\a\\\\x.ts' c:/a/x.ts", "C:\\a=D:\\b")).toBe(
      "D:\\b\\x.ts 'D:\\\\b\\\\x.ts' D:\\b\\x.ts",
    );
  });

  it("keep a backslash in a name where both sides write slashes, and may become the top folder", () => {
    expect(mapped("/home/ada/a\\b/x", "/home/ada=/to")).toBe("/to/a\\b/x");
    expect(mapped("/home/ada/x /home/ada", "/home/ada=/")).toBe("/x /");
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
    [["C:\\=/b"]],
    [["\\\\tide=/b"]],
    [["C:\\a=/b", "/mnt/c/A=/c"]],
  ])("are refused where they say nothing, or two things: %j", (words) => {
    expect(() => parseRoots(words, "/here")).toThrow(JpgError);
  });
});
