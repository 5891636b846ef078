import { describe, expect, it } from "vitest";
import {
  checkRemoteName,
  checkRemoteUrl,
  isLocalPath,
  isSameRepository,
  shownUrl,
  withoutSecrets,
} from "../../src/core/remote-address.ts";

describe("an address", () => {
  it.each([
    "https://example.com/a/b.git",
    "http://127.0.0.1:8080/r",
    "ssh://git@example.com:22/a/b",
    "git@example.com:a/b.git",
    "example.com:a",
    "git://example.com/a",
    "file:///srv/a.git",
    "/srv/a b.git",
    "../a.git",
    "C:\\repos\\a",
  ])("may be %s", (url) => {
    expect(checkRemoteUrl(url)).toBe(url);
  });

  it.each([
    ["", "empty"],
    ["--upload-pack=touch /tmp/x", "hyphen"],
    ["-oProxyCommand=x", "hyphen"],
    ["ext::sh -c id", "program"],
    ["fd::17", "program"],
    ["foo::https://example.com", "program"],
    ["ftp://example.com/a", "protocol"],
    ["ssh://-oProxyCommand=id/a", "hyphen"],
    ["git@-oProxyCommand=id:a", "hyphen"],
    ["https://example.com/a\nb", "control"],
    ["https://example.com/\u001b[2J", "control"],
  ])("is never %j", (url, reason) => {
    expect(() => checkRemoteUrl(url)).toThrow(reason);
  });

  it("is a folder, or not", () => {
    expect(["/a", "../a", "a/b", "./a:b", "C:\\a"].map(isLocalPath)).toEqual([true, true, true, true, true]);
    expect(["https://h/a", "git@h:a", "host:a", "file:///a"].map(isLocalPath)).toEqual([false, false, false, false]);
  });

  it("is shown without passwords and tokens, also in what git says of it", () => {
    expect(shownUrl("https://ada:hunter2@example.com/a")).toBe("https://***@example.com/a");
    expect(shownUrl("https://ghp_token@example.com/a?key=1#x")).toBe("https://***@example.com/a?***");
    expect(shownUrl("ssh://git:hunter2@example.com/a")).toBe("ssh://git:***@example.com/a");
    expect(shownUrl("https://ada:hun@ter2@example.com/a@b")).toBe("https://***@example.com/a@b");
    expect(shownUrl("ssh://git:hun@ter2@example.com/a")).toBe("ssh://git:***@example.com/a");
    expect(shownUrl("git@example.com:a/b")).toBe("git@example.com:a/b");
    expect(withoutSecrets("fatal: unable to access 'https://u:p@h/a/': no")).toBe(
      "fatal: unable to access 'https://***@h/a/': no",
    );
  });

  it("names the same repository over any protocol", () => {
    const same = [
      "git@example.com:team/app.git",
      "https://ada@Example.com/team/app",
      "ssh://git@example.com:22/team/app/",
    ];
    for (const one of same) for (const other of same) expect(isSameRepository(one, other)).toBe(true);
    expect(isSameRepository(same[0] ?? "", "git@example.com:team/talks.git")).toBe(false);
    expect(isSameRepository("/srv/a.git", "/srv/a")).toBe(true);
  });
});

describe("a remote's name", () => {
  it("is one plain word", () => {
    expect(checkRemoteName("origin")).toBe("origin");
    for (const name of ["", "a/b", "-x", "a.b", "a b", "ü", "x".repeat(65)])
      expect(() => checkRemoteName(name)).toThrow("cannot name a remote");
  });
});
