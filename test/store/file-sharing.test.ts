import { describe, expect, it } from "vitest";
import { umaskFor } from "../../src/store/files.ts";

const octal = (value: number): string => value.toString(8).padStart(3, "0");

describe("umaskFor", () => {
  it.each([
    [undefined, "077"],
    ["0600", "077"],
    ["0640", "027"],
    ["0660", "007"],
    ["0644", "022"],
    ["0666", "000"],
    ["group", "002"],
    ["true", "002"],
    ["1", "002"],
    ["all", "002"],
    ["world", "002"],
    ["2", "002"],
    ["umask", "022"],
    ["false", "022"],
    ["0", "022"],
    ["nonsense", "077"],
  ])("is, for core.sharedRepository=%s and a user with 022, %s", (sharing, umask) => {
    expect(octal(umaskFor(sharing, 0o022))).toBe(umask);
  });

  it("keeps a stricter user's own bits out of what is shared only where git does", () => {
    expect(octal(umaskFor("group", 0o077))).toBe("007");
    expect(octal(umaskFor("all", 0o077))).toBe("002");
    expect(octal(umaskFor("umask", 0o027))).toBe("027");
    expect(octal(umaskFor("0600", 0o000))).toBe("077");
  });
});
