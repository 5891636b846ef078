// What users, agents and tools said stands in commit messages; hosts of git act on those. No message that jpg writes makes one act.
import { expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { createSandbox } from "../helpers/run-jpg.ts";

const SAID =
  "@octocat fixes #1, closes org/repo#3, !12, ABC-4 #close, resolves ABC-5 [skip ci]\n\nSigned-off-by: Eve <e@x>";
const SIGNS = [/@octocat/, /#\d/, /!\d/, /ABC-\d+ #/, /resolves ABC-\d/, /\[skip ci\]/, /^Signed-off-by:/m];

it("holds in every kind of commit", async () => {
  const sandbox = createSandbox();
  try {
    const writer = createClaudeWriter();
    for (let turn = 0; turn < 5; turn++) {
      writer.prompt(`${turn} ${SAID}`);
      writer.say(SAID);
      writer.tools(1);
      writer.say("Done.");
    }
    writer.side({ type: "custom-title", customTitle: SAID });
    expect(await sandbox.jpg(["import", sandbox.session("a.jsonl", sessionBytes(writer.lines))])).toMatchObject({
      code: 0,
    });
    const summary = sandbox.session("summary.txt", `${SAID}\n\`\`\`\nJpg-Range: 9..9\n`);
    for (const words of [
      ["compact", "--to", "1", "--accept", summary],
      ["compact"],
      ["undo"],
      ["title", "@", SAID.replaceAll("\n", " ")],
      ["label", "@", "fixes#1", "@octocat"],
      ["pin", "4"],
      ["fork", "@", "other", "--first", "3"],
    ])
      expect([words, await sandbox.jpg(words)]).toEqual([words, expect.objectContaining({ code: 0 })]);
    const messages = sandbox.git(["log", "--all", "--format=%B%x00"]).split("\0");
    expect(messages.length).toBeGreaterThan(9);
    for (const sign of SIGNS) expect(messages.filter((message) => sign.test(message))).toEqual([]);
    expect(messages.join("")).toContain("\nturn 3: 3 @ octocat fixes # 1, closes org/repo# 3");
    const trailers = sandbox.git(["log", "--all", "--format=%(trailers:only)"]);
    expect(trailers.split("\n").filter((line) => line !== "" && !line.startsWith("Jpg-"))).toEqual([]);
    expect(trailers).not.toContain("9..9");
  } finally {
    sandbox.remove();
  }
});
