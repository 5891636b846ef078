import { expect, it } from "vitest";
import { exitCodeOf } from "../../../src/cli/frame/command.ts";
import { fromSystemError } from "../../../src/cli/frame/render-error.ts";
import { JpgError } from "../../../src/core/errors.ts";

function refused(code: string, path?: string): Error {
  return Object.assign(new Error(`${code}: refused`), {
    code,
    syscall: "write",
    ...(path === undefined ? {} : { path }),
  });
}

it("gives each kind of error its exit code, and 70 to what is no JpgError", () => {
  const codes = (["user", "config", "repository", "provider", "internal"] as const).map((kind) =>
    exitCodeOf(new JpgError(kind, "x", "x")),
  );
  expect(codes).toEqual([2, 2, 3, 4, 70]);
  expect(exitCodeOf(new TypeError("x"))).toBe(70);
  expect(exitCodeOf("x")).toBe(70);
});

it("takes what the operating system refused for trouble outside, not for a bug", () => {
  const cases = [
    ["ENOSPC", "disk_full"],
    ["EDQUOT", "disk_full"],
    ["EACCES", "not_writable"],
    ["EROFS", "not_writable"],
    ["ENOTDIR", "file_in_the_way"],
    ["EMFILE", "too_many_files"],
  ];
  for (const [code = "", expected] of cases) {
    const error = fromSystemError(refused(code, "/some/where")) as JpgError;
    expect(error).toMatchObject({
      kind: "repository",
      code: expected,
      data: { code, syscall: "write", path: "/some/where" },
    });
    expect(error.message).toContain("/some/where");
    expect(error.hints.length).toBeGreaterThan(0);
    expect(exitCodeOf(error)).toBe(3);
  }
  expect((fromSystemError(refused("ENOSPC")) as JpgError).message).toBe("the disk is full: write failed (ENOSPC).");
});

it("leaves every other error as it is", () => {
  const own = new JpgError("user", "x", "x");
  const others = [
    own,
    new TypeError("x"),
    refused("ERR_UNKNOWN"),
    Object.assign(new Error("x"), { code: "ENOSPC" }),
    "text",
  ];
  for (const error of others) expect(fromSystemError(error)).toBe(error);
});
