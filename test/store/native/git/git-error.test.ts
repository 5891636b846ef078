import { describe, expect, it } from "vitest";
import { gitError, readableStderr } from "../../../../src/store/git/git-process.ts";

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
