import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { LOCAL_VARIABLES } from "../../../src/store/environment.ts";
import { gitEnvironment, gitError, readableStderr } from "../../../src/store/git/git-process.ts";

const codeOf = (stderr: string): string => gitError({ args: ["read-tree"], code: 128, stderr, where: "/s" }).code;

describe("gitError", () => {
  it("names the cause by what git says", () => {
    expect(codeOf("error: unable to write file: No space left on device")).toBe("disk_full");
    expect(codeOf("error: insufficient permission for adding an object to repository database .git/objects")).toBe(
      "store_not_writable",
    );
    expect(codeOf("fatal: Unable to create '/s/.git/index.lock': Permission denied")).toBe("store_not_writable");
    expect(codeOf("error: cannot lock ref: Read-only file system")).toBe("store_not_writable");
    expect(codeOf("fatal: loose object 1234 (stored in .git/objects/12/34) is corrupt")).toBe("store_damaged");
    expect(codeOf("error: inflate: data stream error (incorrect header check)")).toBe("store_damaged");
    expect(codeOf("fatal: bad tree object HEAD")).toBe("store_damaged");
    expect(codeOf("fatal: Unable to create '/s/.git/index.lock': File exists.")).toBe("ref_locked");
    expect(codeOf("error: gpg failed to sign the data")).toBe("signing_failed");
    expect(codeOf("something new")).toBe("git_failed");
  });

  it("says which command failed, where, and what git said, and always gives git's words", () => {
    const error = gitError({ args: ["update-ref", "--stdin", "-z"], code: 128, stderr: "fatal: odd\n", where: "/s" });
    expect(error).toMatchObject({ kind: "repository", code: "git_failed", data: { exit: 128, stderr: "fatal: odd" } });
    expect(error.message).toBe("`git update-ref --stdin` failed in /s with exit code 128: fatal: odd.");
    expect(gitError({ args: ["x"], code: 1, stderr: "", where: "/s" }).message).toContain("git said nothing");
  });

  it("gives hints that can be typed", () => {
    const { hints } = gitError({ args: ["x"], code: 1, stderr: "fatal: bad tree object", where: "/s" });
    expect(hints[0]).toBe("To see what is damaged: git -C /s fsck --full");
  });
});

describe("readableStderr", () => {
  it("keeps git's first lines without advice and control characters", () => {
    const text = `error: \u001b[31mred\u001b[0m\u0007 x\nhint: do this\n\nfatal: end\n${"more\n".repeat(20)}`;
    expect(readableStderr(text)).toBe("error: red x; fatal: end; more; more; more; more");
  });
});

describe("gitEnvironment", () => {
  it("drops every variable that the installed git calls local to a repository", () => {
    const names = execFileSync("git", ["rev-parse", "--local-env-vars"], { encoding: "utf8" }).trim().split("\n");
    expect(names.filter((name) => !LOCAL_VARIABLES.includes(name))).toEqual([]);
    const env = gitEnvironment(Object.fromEntries(names.map((name) => [name, "x"])));
    expect(Object.keys(env).sort()).toEqual(["GIT_NO_REPLACE_OBJECTS", "GIT_TERMINAL_PROMPT", "LC_ALL"]);
  });

  it("drops what changes the meaning of paths and refs, and what a receiving repository sets", () => {
    expect(
      gitEnvironment({ GIT_NAMESPACE: "n", GIT_ATTR_SOURCE: "a", GIT_ICASE_PATHSPECS: "1", GIT_QUARANTINE_PATH: "/q" }),
    ).toEqual({
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_REPLACE_OBJECTS: "1",
    });
  });

  it("keeps the rest, speaks English, and puts the extras last", () => {
    const env = gitEnvironment(
      { PATH: "/bin", LC_ALL: "de_DE.UTF-8", GONE: undefined, GIT_SSH: "ssh" },
      { GIT_DIR: "/mine" },
    );
    const own = { LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_NO_REPLACE_OBJECTS: "1" };
    expect(env).toEqual({ PATH: "/bin", GIT_SSH: "ssh", ...own, GIT_DIR: "/mine" });
  });
});
