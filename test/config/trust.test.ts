import { win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { isTrusted, resolveUserPaths, trustDigest, withTrust } from "../../src/config/trust.ts";
import { errorOf } from "./error-of.ts";

const PATH = "/p/.jpg.toml";

describe("trust", () => {
  it("is bound to the exact content: SHA-256 of the text", () => {
    expect(trustDigest("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(trustDigest(new TextEncoder().encode("abc"))).toBe(trustDigest("abc"));
    const file = withTrust(undefined, PATH, trustDigest("a = 1\n"));
    expect(isTrusted(PATH, trustDigest("a = 1\n"), file)).toBe(true);
    expect(isTrusted(PATH, trustDigest("a = 2\n"), file)).toBe(false);
  });

  it("survives a checkout with CRLF, and no other change", () => {
    const text = "[compaction]\nmodel = 'a/b'\n";
    const file = withTrust(undefined, PATH, trustDigest(text));
    expect(isTrusted(PATH, trustDigest(text.replaceAll("\n", "\r\n")), file)).toBe(true);
    for (const other of [
      `${text}\n`,
      text.replace("\n", "\r"),
      text.replace("a/b", "a/b\r"),
      text.replaceAll("\n", "\r\r\n"),
    ])
      expect(isTrusted(PATH, trustDigest(other), file)).toBe(false);
  });

  it("is bound to the path", () => {
    const file = withTrust(undefined, PATH, trustDigest(""));
    expect(isTrusted("/q/.jpg.toml", trustDigest(""), file)).toBe(false);
    expect(isTrusted("constructor", trustDigest(""), file)).toBe(false);
  });

  it("is nobody's before the first `jpg trust`, also with an empty file", () => {
    expect(isTrusted(PATH, "x", undefined)).toBe(false);
    expect(isTrusted(PATH, "x", "\n")).toBe(false);
  });

  it("can be given anew and to others", () => {
    const file = withTrust(withTrust(withTrust(undefined, PATH, "1"), "/q", "2"), PATH, "3");
    expect(JSON.parse(file)).toEqual({ format: 1, trusted: { [PATH]: "3", "/q": "2" } });
  });

  it.each(["{", "[]", "null", '{"format":2,"trusted":{}}', '{"format":1}', '{"format":1,"trusted":{"/p":1}}'])(
    "neither believes nor overwrites a trust file it cannot read: %j",
    (text) => {
      expect(errorOf(() => isTrusted(PATH, "x", text))).toMatchObject({ kind: "config", code: "bad_trust_file" });
      expect(errorOf(() => withTrust(text, PATH, "x")).hints).toHaveLength(1);
    },
  );
});

describe("the user's places", () => {
  it("stand below the home folder by default", () => {
    expect(resolveUserPaths({ env: {}, home: "/home/ada" })).toEqual({
      configFile: "/home/ada/.config/jpg/config.toml",
      formatsDir: "/home/ada/.config/jpg/formats",
      stateDir: "/home/ada/.local/state/jpg",
      trustFile: "/home/ada/.local/state/jpg/trust.json",
      dataDir: "/home/ada/.local/share/jpg",
      cacheDir: "/home/ada/.cache/jpg",
      storeDir: "/home/ada/.local/share/jpg/store",
    });
  });

  it("follow the XDG variables", () => {
    const env = { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s", XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "/k" };
    expect(resolveUserPaths({ env, home: "/home/ada" })).toMatchObject({
      configFile: "/c/jpg/config.toml",
      formatsDir: "/c/jpg/formats",
      trustFile: "/s/jpg/trust.json",
      dataDir: "/d/jpg",
      cacheDir: "/k/jpg",
    });
  });

  it("take an empty or relative variable for unset", () => {
    const env = { XDG_CONFIG_HOME: "", XDG_STATE_HOME: "state" };
    expect(resolveUserPaths({ env, home: "/home/ada" })).toEqual(resolveUserPaths({ env: {}, home: "/home/ada" }));
  });

  const windows = (env: Readonly<Record<string, string>>) =>
    resolveUserPaths({ env, home: "C:\\Users\\Ada Löw", platform: "win32" });

  it("are on Windows where programs keep theirs there", () => {
    const usual = windows({});
    expect([usual.stateDir, usual.dataDir, usual.cacheDir]).toEqual(
      ["state", "data", "cache"].map((name) => `C:\\Users\\Ada Löw\\AppData\\Local\\jpg\\${name}`),
    );
    expect(win32.dirname(usual.configFile)).toBe("C:\\Users\\Ada Löw\\AppData\\Roaming\\jpg");
    const moved = windows({ APPDATA: "D:\\Roaming\\", LOCALAPPDATA: "\\\\server\\ada" });
    expect(win32.dirname(moved.configFile)).toBe("D:\\Roaming\\jpg");
    expect(moved.stateDir).toBe("\\\\server\\ada\\jpg\\state");
    expect(windows({ APPDATA: "Roaming", LOCALAPPDATA: "" })).toEqual(usual);
  });

  it("follow the XDG variables on Windows, too, and are on macOS as on Linux", () => {
    expect(windows({ XDG_STATE_HOME: "D:/state", LOCALAPPDATA: "E:\\x" }).stateDir).toBe("D:/state\\jpg");
    expect(windows({ XDG_STATE_HOME: "/state" })).toEqual(windows({}));
    const user = { env: { APPDATA: "/roaming", LOCALAPPDATA: "/local" }, home: "/Users/ada" };
    expect(resolveUserPaths({ ...user, platform: "darwin" })).toEqual(resolveUserPaths(user));
  });
});
