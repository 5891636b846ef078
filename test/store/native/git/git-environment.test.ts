import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { LOCAL_VARIABLES } from "../../../../src/store/environment.ts";
import { gitEnvironment } from "../../../../src/store/git/git-process.ts";

describe("gitEnvironment", () => {
  it("drops every variable that the installed git calls local to a repository", () => {
    const names = execFileSync("git", ["rev-parse", "--local-env-vars"], { encoding: "utf8" }).trim().split("\n");
    expect(names.filter((name) => !LOCAL_VARIABLES.includes(name))).toEqual([]);
    const env = gitEnvironment(Object.fromEntries(names.map((name) => [name, "x"])));
    expect(Object.keys(env).sort()).toEqual(["GIT_NO_REPLACE_OBJECTS", "GIT_TERMINAL_PROMPT", "LC_ALL"]);
  });

  it("drops what changes the meaning of paths and refs, and what a receiving repository sets", () => {
    expect(gitEnvironment({ GIT_NAMESPACE: "n", GIT_ICASE_PATHSPECS: "1", GIT_QUARANTINE_PATH: "/q" })).toEqual({
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_REPLACE_OBJECTS: "1",
    });
  });

  it("keeps the rest, speaks English, and puts the extras last", () => {
    const env = gitEnvironment(
      { PATH: "/bin", LC_ALL: "de_DE.UTF-8", GONE: undefined, GIT_SSH: "ssh" },
      { GIT_DIR: "/mine" },
    );
    const own = { LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_NO_REPLACE_OBJECTS: "1" };
    expect(env).toEqual({ PATH: "/bin", GIT_SSH: "ssh", ...own, GIT_DIR: "/mine" });
  });
});
