// A rename over a file that another program has open, as Windows refuses it for a moment.
import { expect, it } from "vitest";
import { renameFile } from "../../src/store/files.ts";

function world(platform: string, failures: readonly string[]) {
  const left = [...failures];
  const waits: number[] = [];
  const rename = (): void => {
    const code = left.shift();
    if (code !== undefined) throw Object.assign(new Error(code), { code });
  };
  return { waits, left, world: { platform, rename, wait: (milliseconds: number) => void waits.push(milliseconds) } };
}

it.each(["EPERM", "EACCES", "EBUSY"])("waits while Windows says %s", (code) => {
  const open = world("win32", [code, code, code]);
  renameFile("draft", "file", open.world);
  expect(open.waits).toEqual([10, 20, 40]);
});

it("gives up after 1.3 seconds, with the system's error", () => {
  const open = world("win32", Array(20).fill("EBUSY"));
  expect(() => renameFile("draft", "file", open.world)).toThrow("EBUSY");
  expect(open.waits.reduce((sum, wait) => sum + wait, 0)).toBe(1270);
});

it.each([
  ["win32", "ENOENT"],
  ["win32", "EXDEV"],
  ["linux", "EPERM"],
  ["darwin", "EACCES"],
])("does not wait on %s for %s", (platform, code) => {
  const open = world(platform, [code]);
  expect(() => renameFile("draft", "file", open.world)).toThrow(code);
  expect(open.waits).toEqual([]);
});
