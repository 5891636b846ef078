import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { editText } from "../../../src/app/models/external-process.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";

const temp = createTempFolder();
afterAll(() => temp.remove());

function editor(script: string): { readonly folder: string; readonly program: string } {
  const folder = temp.path;
  const program = join(folder, "an editor.sh");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return { folder, program };
}

describe("a text in the user's editor", () => {
  it("is the content of the file when the editor has ended, and the file is removed", async () => {
    const { folder, program } = editor('stat -c %a "$2" >> "$2"; echo "$1" >> "$2"');
    const env = { PATH: process.env["PATH"], VISUAL: `'${program}' --wait`, EDITOR: "false", TMPDIR: folder };
    expect(await editText("as it was\n", { env, cwd: folder })).toBe("as it was\n600\n--wait\n");
    expect(readdirSync(folder)).toEqual(["an editor.sh"]);
  });

  it("stays as it was when the editor fails, which is said", async () => {
    const { folder, program } = editor("exit 3");
    const env = { PATH: process.env["PATH"], EDITOR: `'${program}'`, TMPDIR: folder };
    await expect(editText("text", { env, cwd: folder })).rejects.toMatchObject({
      code: "editor_failed",
      message: expect.stringContaining("exit code 3"),
      hints: [expect.stringContaining("$EDITOR")],
    });
    expect(readdirSync(folder)).toEqual(["an editor.sh"]);
  });
});
