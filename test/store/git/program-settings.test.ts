import { describe, expect, it } from "vitest";
import { parseScopedSettings } from "../../../src/store/git/git-process.ts";
import { planSettings } from "../../../src/store/git/guard.ts";

const own = (key: string, value = "evil"): { scope: string; key: string; value: string } => ({
  scope: "local",
  key,
  value,
});

describe("planSettings", () => {
  it.each([
    ["filter.x y.z.smudge", ""],
    ["filter.x.process", ""],
    ["filter.x.required", "false"],
    ["gpg.program", "gpg"],
    ["gpg.openpgp.program", "gpg"],
    ["gpg.x509.program", "gpgsm"],
    ["gpg.ssh.program", "ssh-keygen"],
    ["gpg.ssh.defaultkeycommand", ""],
    ["diff.x.textconv", "cat"],
    ["diff.x.command", ""],
    ["diff.external", ""],
    ["merge.x.driver", "false"],
    ["core.fsmonitor", "false"],
    ["hook.x.command", ":"],
    ["core.editor", ":"],
    ["sequence.editor", ":"],
    ["core.pager", "cat"],
    ["pager.log", "cat"],
    ["alias.st", ""],
    ["interactive.difffilter", ""],
    ["trailer.x.cmd", ""],
    ["mergetool.x.cmd", ""],
    ["difftool.x.path", ""],
    ["core.alternaterefscommand", ""],
    ["uploadpack.packobjectshook", ""],
    ["gc.recentobjectshook", ""],
    ["submodule.x.update", "none"],
  ])("takes a store's own %s for nothing, and the user's for itself", (key, nothing) => {
    for (const scope of ["local", "worktree"]) {
      const plan = planSettings([{ scope, key, value: "evil" }]);
      expect([plan.ignored, [...plan.overrides], plan.isBlocked]).toEqual([[key], [[key, nothing]], false]);
    }
    for (const scope of ["system", "global"]) {
      const users = { scope, key, value: "mine" };
      expect([...planSettings([users, own(key)]).overrides]).toEqual([[key, "mine"]]);
      expect(planSettings([users])).toEqual({ ignored: [], overrides: new Map(), isBlocked: false, promisors: [] });
    }
  });

  it.each([
    "core.sshcommand",
    "core.gitproxy",
    "core.askpass",
    "credential.helper",
    "credential.https://x.helper",
    "remote.o.vcs",
    "remote.o.uploadpack",
    "remote.o.receivepack",
    "remote.o.proxy",
    "url.ext::evil.insteadof",
    "url.x.pushinsteadof",
    "protocol.ext.allow",
    "protocol.allow",
    "http.proxy",
    "http.https://x/.cookiefile",
  ])("shuts transports where a store's own %s is between it and its remotes", (key) => {
    expect(planSettings([own(key)])).toEqual({ ignored: [key], overrides: new Map(), isBlocked: true, promisors: [] });
    expect(planSettings([{ scope: "global", key, value: "mine" }]).isBlocked).toBe(false);
  });

  it("leaves alone what starts nothing, and jpg's own textconv", () => {
    const settings = [
      "user.name",
      "commit.gpgsign",
      "remote.o.url",
      "diff.jpg.textconv",
      "core.bare",
      "credential.username",
    ];
    expect(planSettings(settings.map((key) => own(key))).ignored).toEqual([]);
  });

  it("takes the user's program for either name of it", () => {
    const plan = planSettings([{ scope: "global", key: "gpg.program", value: "mine" }, own("gpg.openpgp.program")]);
    expect([...plan.overrides]).toEqual([["gpg.openpgp.program", "mine"]]);
  });

  it("says where a store's own configuration puts the worktree", () => {
    expect(planSettings([own("core.worktree", "/a"), own("core.worktree", "/b")]).worktree).toBe("/b");
    expect(planSettings([{ scope: "global", key: "core.worktree", value: "/a" }]).worktree).toBeUndefined();
  });
});

describe("parseScopedSettings", () => {
  it("reads values with line ends, keys without a value, and names of any form", () => {
    expect(parseScopedSettings("global\0a.b\nx\ny\0local\0core.bare\0worktree\0filter.a = b.smudge\n\0")).toEqual([
      { scope: "global", key: "a.b", value: "x\ny" },
      { scope: "local", key: "core.bare", value: "" },
      { scope: "worktree", key: "filter.a = b.smudge", value: "" },
    ]);
    expect(parseScopedSettings("")).toEqual([]);
  });
});
