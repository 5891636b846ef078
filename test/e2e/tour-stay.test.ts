// The end of `jpg tour` in a terminal: it offers a shell in its folder, which goes when that ends.
// @module-tag slow
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: Sandbox;
let pane: Pane | null = null;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => {
  pane?.close();
  pane = null;
  sandbox.remove();
});

/** Runs the tour up to its question. */
async function untilAsked(early = ""): Promise<{ readonly tour: Pane; readonly folder: string }> {
  const env = {
    ...sandbox.env,
    NO_COLOR: "1",
    SHELL: "/bin/sh",
    TMPDIR: sandbox.root,
    XDG_CACHE_HOME: join(sandbox.root, "cache"),
  };
  pane = openPane([process.execPath, BIN, "tour"], { cwd: sandbox.project, env, columns: 80 });
  if (early !== "") {
    await pane.shows("1. Bring a session in");
    pane.type("-l", early);
    pane.type("Enter");
    pane.type("-l", early);
  }
  const shown = await pane.shows(/Stay here in a shell.*\[y\/N\]/s);
  const folder = /Everything happens in (\S+),/.exec(shown)?.[1] ?? "";
  expect(existsSync(join(folder, "tidepool"))).toBe(true);
  return { tour: pane, folder };
}

describe.skipIf(tmuxMissing !== null)("the end of a tour in a terminal (tmux)", () => {
  it("is a shell with y, in which jpg is this one and HOME is not the user's; its end removes the folder", async () => {
    const { tour, folder } = await untilAsked();
    tour.type("-l", "y");
    tour.type("Enter");
    await tour.shows(/Try `jpg ls`/);
    tour.type("-l", 'echo "in $PWD with $HOME"; jpg ls; jpg tide');
    tour.type("Enter");
    const shown = await tour.shows("jpg tide");
    expect(shown).toContain(`in ${folder}/tidepool with ${folder}/home`);
    expect(await tour.shows(/error: .*tide/)).toMatch(/^ *\S+ +claude +Make tidepool's CSV import/m);
    // Ctrl-C is the shell's.
    tour.type("C-c");
    tour.type("-l", "echo still $((40 + 2))");
    tour.type("Enter");
    await tour.shows("still 42");
    expect(existsSync(folder)).toBe(true);
    tour.type("-l", "exit");
    tour.type("Enter");
    await tour.shows("left with 0");
    expect(existsSync(folder)).toBe(false);
    expect(readdirSync(sandbox.home)).toEqual([]);
  });

  it("does not take keys for an answer that were typed before the question", async () => {
    const { tour, folder } = await untilAsked("y");
    tour.type("Enter");
    expect(await tour.shows("left with 0")).not.toContain("Try `jpg ls`");
    expect(existsSync(folder)).toBe(false);
  });

  it("is the end of the folder with n", async () => {
    const { tour, folder } = await untilAsked();
    tour.type("-l", "n");
    tour.type("Enter");
    expect(await tour.shows("left with 0")).not.toContain("Try `jpg ls`");
    expect(existsSync(folder)).toBe(false);
  });
});
