// What is said of a transfer that git ended.
import { describe, expect, it } from "vitest";
import { transferError } from "../../../../src/store/native/remotes/transfer-error.ts";

const stderr = [
  "fatal: detected dubious ownership in repository at '/srv/talks.git'",
  "To add an exception for this directory, call:",
  "",
  "\tgit config --global --add safe.directory /srv/talks.git",
  "fatal: Could not read from remote repository.",
  "",
].join("\n");
const errorAt = (url: string) => transferError("Pushing to", { url, cwd: "/here" }, { code: 128, stderr });

describe("a remote of another user", () => {
  it("is named with the setting that trusts it, where it is a folder of this machine", () => {
    expect(errorAt("/srv/talks.git")).toMatchObject({
      code: "foreign_repository",
      message: "/srv/talks.git belongs to somebody else, so neither git nor jpg works in it",
      hints: ["if you trust its owner: git config --global --add safe.directory /srv/talks.git"],
    });
  });

  it("is to be trusted on its own machine, where it is reached over ssh", () => {
    const { code, hints } = errorAt("git@host:talks.git");
    expect(code).toBe("remote_foreign");
    expect(hints).toEqual([
      expect.stringMatching(/^On that machine: `git config --global --add safe\.directory PATH`/),
    ]);
  });
});

describe("a host that does not let one in", () => {
  it.each([
    "FATAL: W any talks ada DENIED by fallthru\n(or you mis-spelled the reponame)",
    "ERROR: Permission to ada/talks.git denied to ben.",
    "remote: ERROR: You are not allowed to push code to this project.",
    "ERROR: The project you were looking for could not be found or you don't have permission to view it.",
  ])("is not taken for one that broke off: %s", (said) => {
    const text = `${said}\nfatal: Could not read from remote repository.\n`;
    const { code, hints } = transferError(
      "Pushing to",
      { url: "git@host:talks", cwd: "/here" },
      { code: 128, stderr: text },
    );
    expect([code, hints.join(" ")]).toEqual(["remote_denied", expect.stringContaining("ask its owner")]);
  });
});
