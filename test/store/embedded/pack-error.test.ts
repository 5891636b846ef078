import { describe, expect, it } from "vitest";
import { packError } from "../../../src/store/embedded/pack-format.ts";

describe("packError", () => {
  it("names the reason as git does where there is one", () => {
    const codeOf = (code: string): string => packError("/store/.git", Object.assign(new Error(code), { code })).code;
    expect(["ENOSPC", "EDQUOT", "EACCES", "EROFS", "EIO"].map(codeOf)).toEqual([
      "disk_full",
      "disk_full",
      "store_not_writable",
      "store_not_writable",
      "pack_not_written",
    ]);
    expect(packError("/store/.git", "stopped").message).toContain("/store/.git/objects/pack");
  });
});
