// Versions of agents: the newest that a session names, and whether jpg has been tried with it.
import { expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { findVersion, isNewerVersion } from "../../src/formats/agent-format.ts";
import { AGENTS } from "../../src/formats/agents.ts";
import { parseJsonLine } from "../../src/formats/session-source.ts";

const source = (...lines: readonly unknown[]) =>
  createBufferSource(
    Buffer.from(lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")),
  );

it("is that of the last line that names one: agents are updated while a session goes on", () => {
  const versionIn = (...lines: readonly unknown[]) =>
    findVersion(source(...lines), parseJsonLine, ({ version }) => version);
  expect(versionIn({ version: "2.1.3" }, "cut {", { version: "2.2.0" }, { other: { version: "9" } })).toBe("2.2.0");
  expect(versionIn({ version: 3 }, { version: "x".repeat(99) }, { version: "\u001b[2J" }, {})).toBe(undefined);
  expect(versionIn({ version: "1.0" }, ...Array.from({ length: 200 }, () => ({})))).toBe("1.0");
});

it("is newer by its first two numbers", () => {
  const pairs = [
    ["2.1.331", "2.1.330", false],
    ["2.2.0", "2.1.330", true],
    ["3", "2.1.330", true],
    ["0.170.0", "0.169.0", true],
    ["1.99", "2.0", false],
    ["4", "3", true],
  ] as const;
  for (const [version, tried, expected] of pairs)
    expect([version, isNewerVersion(version, tried)]).toEqual([version, expected]);
});

it("is found in sessions of each agent that names its own", () => {
  const named: Record<string, unknown> = {
    "claude-code": {
      type: "user",
      uuid: "u",
      parentUuid: null,
      version: "9.9.9",
      message: { role: "user", content: "x" },
    },
    codex: {
      timestamp: "2026-01-01T00:00:00Z",
      type: "session_meta",
      payload: { id: "c", cwd: "/x", originator: "o", cli_version: "9.9.9" },
    },
    pi: { type: "session", version: 9, id: "p", timestamp: "2026-01-01T00:00:00Z", cwd: "/x" },
    "copilot-cli": {
      type: "session.start",
      data: { sessionId: "s", copilotVersion: "9.9.9" },
      id: "1",
      parentId: null,
    },
  };
  for (const { name, versions } of AGENTS) {
    if (named[name] === undefined) continue;
    const found = versions?.versionOf(source(named[name]));
    expect([name, found]).toEqual([name, name === "pi" ? "9" : "9.9.9"]);
    expect(isNewerVersion(found!, versions!.tried)).toBe(true);
  }
});
