// Writes examples/sample-session.jsonl: an invented Claude Code session about an invented project, the first thing a
// newcomer imports. No clock, no randomness: running it again gives the same bytes. `-` as argument prints instead.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tellParser } from "./sample/day-one-parser.mjs";
import { tellSpeed } from "./sample/day-one-speed.mjs";
import { tellStreaming } from "./sample/day-one-streaming.mjs";
import { tellTypes } from "./sample/day-one-types.mjs";
import { tellKey } from "./sample/day-two-key.mjs";
import { tellRejects } from "./sample/day-two-rejects.mjs";
import { tellRelease } from "./sample/day-two-release.mjs";
import { INITIAL_FILES } from "./sample/project-files.mjs";
import { SessionWriter } from "./sample/session-writer.mjs";
import { Project } from "./sample/tools.mjs";

const ROOT = "/home/mara/tidepool";

const makeSample = () => {
  const session = new SessionWriter({ root: ROOT, start: "2026-03-09T08:24:10.000Z", version: "2.1.76" });
  const project = new Project(ROOT, INITIAL_FILES);
  session.node(
    {
      type: "progress",
      data: {
        type: "hook_progress",
        hookEvent: "SessionStart",
        hookName: "SessionStart:startup",
        command: "echo tide is $(date +%H)",
      },
      parentToolUseID: "hook-0",
      toolUseID: "hook-0",
    },
    { parent: null },
  );
  for (const tell of [tellParser, tellTypes, tellStreaming, tellSpeed]) tell(session, project);
  // The machine lost power while this line was written: half a line that no reader can parse.
  session.raw(
    `{"parentUuid":"${session.here}","isSidechain":false,"type":"progress","data":{"type":"bash_progress","output":"npm notice`,
  );
  for (const tell of [tellKey, tellRejects, tellRelease]) tell(session, project);
  return session.toText();
};

if (process.argv[2] === "-") process.stdout.write(makeSample());
else writeFileSync(fileURLToPath(new URL("sample-session.jsonl", import.meta.url)), makeSample());
