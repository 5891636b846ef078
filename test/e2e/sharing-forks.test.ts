// A fork that was told of another which had merged it before: stock git takes it for a branch that only goes on, and the remote's
// would lose its turn. Reads like a terminal session.
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { initRepository } from "../helpers/temp-repository.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

it("is sent neither by stock git nor by jpg, and becomes a fork of its own with the next pull", {
  tags: ["slow"],
}, async () => {
  const sandbox = await copyImportedSandbox(3);
  onTestFinished(() => sandbox.remove());
  const { run } = createTerminalSession(sandbox);
  const { conversation } = sandbox;
  const bare = join(sandbox.root, "bare.git");
  initRepository(bare, "--bare");
  await run(`jpg remote add team ${bare}`);
  await run("jpg fork <id>/main a --first 2");
  await run("jpg fork <id>/main b --first 1");
  const before = sandbox.git(["rev-parse", `${conversation}/a`]).trim();
  await run("jpg merge main --into a --summary 'Main, told to a.'");
  await run("jpg merge a --into b --summary 'All of a, told to b.'");
  await run("jpg use b");
  await run("jpg push <id>");
  // As in the store of somebody who has the newer b, and the older a.
  sandbox.git(["branch", "--force", `${conversation}/a`, before]);
  await run("jpg merge b --into a --summary 'What b was told, told to the older a.'");
  const there = (): string => sandbox.git(["show", `${conversation}/a:turns/0000/000002.jsonl`], bare);
  const push = (): string => sandbox.git(["push", "--quiet", "team", `${conversation}/a`]);
  expect(push).toThrow(/\/a is not sent: it would remove turns, compactions or settings from the remote's branch/);
  expect(await run("jpg push <id>/a")).toMatchInlineSnapshot(`
    "$ jpg push <id>/a
      not sent: pull first  <id>/a
    Nothing was sent to team.
    ! To team (branches): <root>/bare.git
    ! error: team has commits of <id>/a that are not here.
    ! hint: \`jpg pull --from team\` brings them in; then push again.
    [exit 3]
    "
  `);
  expect(there()).toContain("Main, told to a.");
  expect(await run("jpg pull")).toMatchInlineSnapshot(`
    "$ jpg pull
      forked  <id>/a
    Both sides of a had added turns: theirs keeps the name, yours is a-ada-test-1.
    ! From team (branches): <root>/bare.git
    "
  `);
  sandbox.git(["push", "--quiet", "team", "--all"]);
  expect(there()).toContain("Main, told to a.");
});
