// One word after `jpg title` is the title of the active conversation, or names a conversation; a mistyped name renames nothing.
// @module-tag slow
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { surveyedSession } from "../helpers/surveyed-session.ts";

const OTHER_SESSION = "5e551073-0000-4000-8000-0000000000bb";

let sandbox: Sandbox;
let own: string;
let other: string;
beforeEach(async () => {
  sandbox = createSandbox();
  const bring = async (name: string, bytes: Uint8Array): Promise<string> =>
    (await sandbox.json<{ id: string }[]>(["import", sandbox.session(name, bytes)]))[0]?.id ?? "";
  own = await bring("own.jsonl", smallSession({ id: "3c91b7aa-0000-4000-8000-0000000000aa" }));
  other = await bring("other.jsonl", surveyedSession({ turns: 5, resultChars: 80, session: OTHER_SESSION }));
  await sandbox.jpg(["title", other, "Survey of the berths"]);
  await sandbox.jpg(["use", own]);
});
afterEach(() => sandbox.remove());

describe("one word after `jpg title`", () => {
  const titles = async () => {
    const { json } = sandbox;
    const of = async (id: string) => (await json<{ title: string }>(["title", id])).title;
    return [await of(own), await of(other)];
  };

  it.each(["Mend the quay", "Quay", "Über-Pier", "a title with survey of in it"])(
    "names the active conversation: %s",
    async (title) => {
      const [, other] = await titles();
      expect(await sandbox.jpg(["title", title])).toMatchObject({ code: 0, stdout: `${title}\n` });
      expect(await titles()).toEqual([title, other]);
    },
  );

  it("shows a title where it names a conversation, and changes nothing where it looks like a mistyped name", async () => {
    const { jpg } = sandbox;
    const suffix = other.slice(other.lastIndexOf("-") + 1);
    const before = await titles();
    const shown = [other, suffix, `${other}/main`, OTHER_SESSION, "survey of"];
    for (const name of shown)
      expect(await jpg(["title", name]), name).toMatchObject({ code: 0, stdout: `${before[1]}\n` });
    // Mistyped: one letter more, one less in the middle, of a fork that is not there.
    const mistyped = [`${other}x`, own.replace(/^(.)./, "$1"), `${other}/no-such`, "fix-the-parser-k3f9"];
    for (const name of mistyped) {
      const result = await jpg(["title", name]);
      expect(result, name).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr, name).toMatch(/^error: /);
    }
    expect(await titles()).toEqual(before);
    const asked = await jpg(["title", "fix-the-parser-k3f9"]);
    expect(asked.stderr).toContain('jpg title @ "fix-the-parser-k3f9"');
  });
});
