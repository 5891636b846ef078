// What is said of a transfer that git ended.

import { describe, expect, it } from "vitest";
import { transferError } from "../../../src/store/git/transfer-errors.ts";

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
      message: "/srv/talks.git belongs to somebody else, so neither git nor jpg works in it.",
      hints: ["If you trust its owner: git config --global --add safe.directory /srv/talks.git"],
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
    expect([code, hints.join(" ")]).toEqual(["remote_denied", expect.stringContaining("Ask its owner")]);
  });
});

describe("a push that a remote does not take", () => {
  const pushed = (text: string) =>
    transferError("Pushing to", { url: "host:x", cwd: "/here" }, { code: 1, stderr: text });
  const END =
    "send-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly\n";

  it("is refused by a hook, in its words, whatever git adds", () => {
    const warning = "warning: not sending a push certificate since the receiving end does not support --signed push\n";
    const { code, message, hints } = pushed(
      `${warning}ledger is closed\nledger is closed\nfatal: ref updates aborted by hook\n${END}`,
    );
    expect([code, message]).toEqual([
      "remote_refused",
      "Pushing to host:x failed: it refused this by a hook of its own: ledger is closed.",
    ]);
    expect(hints).toEqual(["Ask its owner what its hook wants. Nothing was changed there."]);
  });

  it("is not taken with a certificate, which is no trouble with the network", () => {
    const { code, message } = pushed(`fatal: the receiving end does not support --signed push\n${END}`);
    expect([code, message]).toEqual([
      "remote_unsigned",
      "Pushing to host:x failed: it takes no signed pushes: fatal: the receiving end does not support --signed push.",
    ]);
  });

  it("differs from a fetch that a hook of this side stops", () => {
    const { code, hints } = transferError(
      "Fetching from",
      { url: "host:x", cwd: "/my store" },
      { code: 128, stderr: "not now\nfatal: ref updates aborted by hook\n" },
    );
    expect([code, hints]).toEqual([
      "hook_refused",
      ["To see which folder it is in: git -C '/my store' config --show-origin core.hooksPath"],
    ]);
  });
});

const failed = (url: string, stderr: string) =>
  transferError("Fetching from", { url, cwd: "/store" }, { code: 128, stderr });

describe("the error of a transfer", () => {
  it("says the cause once, without what git adds to each", () => {
    const { message, code } = failed(
      "ssh://ada@host:22/talks.git",
      "ssh: connect to host host port 22: Connection refused\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
    );
    expect(code).toBe("remote_unreachable");
    expect(message).toBe(
      "Fetching from ssh://ada@host:22/talks.git failed: it cannot be reached: ssh: connect to host host port 22: Connection refused.",
    );
  });

  it("keeps what git adds where nothing else was said", () => {
    const { message, code } = failed("host:x", "fatal: Could not read from remote repository.\n");
    expect([code, message]).toEqual([
      "remote_broke_off",
      "Fetching from host:x failed: it broke off, or sent what cannot be read: fatal: Could not read from remote repository.",
    ]);
  });

  it("names the command that shows what ssh asks, ready to be typed", () => {
    const said = "Host key verification failed.\nfatal: Could not read from remote repository.\n";
    expect(failed("ada@host:my talks.git", said).hints).toEqual([
      "Run `git ls-remote 'ada@host:my talks.git'` once in a terminal and look at what ssh asks.",
    ]);
  });

  it("puts no address into a hint of which a part is masked", () => {
    const said = "fatal: Authentication failed for 'https://ada:pa55@host/x.git/'";
    const error = failed("https://ada:pa55@host/x.git", said);
    expect(error.hints).toContain("`git ls-remote ADDRESS` shows whether git itself gets in.");
    expect(JSON.stringify([error.message, error.hints])).not.toContain("pa55");
  });

  it("says how an address is changed", () => {
    expect(failed("/gone", "fatal: '/gone' does not appear to be a git repository").hints).toEqual([
      "Check the address: `jpg remote ls` lists those of the remotes, `jpg remote rm NAME` and `jpg remote add NAME URL` change one.",
    ]);
  });

  it("says of an address that no remote has to look at it, not how a remote's is changed", () => {
    const stderr = "fatal: '/gone' does not appear to be a git repository";
    const own = { url: "/gone", cwd: "/", isRemote: false };
    expect(transferError("Reading from", own, { code: 128, stderr }).hints).toEqual(["Check the address."]);
  });
});
