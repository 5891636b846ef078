import { describe, expect, it } from "vitest";
import { resolveUserPaths } from "../../src/config/trust.ts";

describe("the user's places", () => {
  it("stand below the home folder by default", () => {
    expect(resolveUserPaths({}, "/home/ada")).toEqual({
      configFile: "/home/ada/.config/jpg/config.toml",
      stateDir: "/home/ada/.local/state/jpg",
      trustFile: "/home/ada/.local/state/jpg/trust.json",
      dataDir: "/home/ada/.local/share/jpg",
      cacheDir: "/home/ada/.cache/jpg",
      storeDir: "/home/ada/.local/share/jpg/store",
    });
  });

  it("follow the XDG variables", () => {
    const env = { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s", XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "/k" };
    expect(resolveUserPaths(env, "/home/ada")).toMatchObject({
      configFile: "/c/jpg/config.toml",
      trustFile: "/s/jpg/trust.json",
      dataDir: "/d/jpg",
      cacheDir: "/k/jpg",
    });
  });

  it("take an empty or relative variable for unset", () => {
    const env = { XDG_CONFIG_HOME: "", XDG_STATE_HOME: "state" };
    expect(resolveUserPaths(env, "/home/ada")).toEqual(resolveUserPaths({}, "/home/ada"));
  });
});
