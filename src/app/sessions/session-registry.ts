// Asks the agents that jpg knows: by name, by what a file holds, by what they can do. Nothing else in jpg names one.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { nearestName, userError } from "../../core/errors.ts";
import type { AgentFormat, Machine, SessionDraft, SessionWriter } from "../../formats/agent-format.ts";
import { AGENTS } from "../../formats/agents.ts";
import type { ResumePlan, SessionSource } from "../../formats/session-source.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** An agent whose sessions jpg writes. */
export type WritingAgent = AgentFormat & { readonly write: SessionWriter };

/** An agent that goes on with sessions that jpg wrote. */
export type ResumingAgent = WritingAgent & {
  readonly resume: (machine: Machine, draft: SessionDraft) => ResumePlan;
};

/** Lists the agents whose sessions jpg reads. */
export function agents(): readonly AgentFormat[] {
  return AGENTS;
}

/** The names of the formats that jpg reads. */
export function formatNames(): readonly string[] {
  return AGENTS.map(({ name }) => name);
}

/** Lists the agents whose sessions jpg writes. */
export function writingAgents(): readonly WritingAgent[] {
  return AGENTS.filter((agent): agent is WritingAgent => agent.write !== undefined);
}

/** Lists the agents that go on with sessions that jpg wrote, those that help texts show first. */
export function resumingAgents(): readonly ResumingAgent[] {
  return writingAgents().filter((agent): agent is ResumingAgent => agent.resume !== undefined);
}

/** The agent that help texts show. Throws when jpg knows none. */
export function exampleAgent(): AgentFormat {
  const [first] = resumingAgents();
  if (first === undefined) throw new Error("jpg knows no agent that resumes sessions");
  return first;
}

/** Gives an agent by the name of its format. Throws `unknown_format` with the nearest name. */
export function formatByName(name: string): AgentFormat {
  const format = AGENTS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const nearest = nearestName(name, formatNames());
  throw userError(
    "unknown_format",
    `${name} is not a format that jpg imports: expected one of ${formatNames().join(", ")}.`,
    {
      hints: nearest === undefined ? [] : [`Did you mean ${nearest}?`],
    },
  );
}

/** Hints for a path that does not exist: the agent whose name was mistyped, if it can be told. */
export function agentMeant(path: string): readonly string[] {
  const nearest = nearestName(basename(path), formatNames());
  return nearest === undefined ? [] : [`Did you mean \`jpg import ${nearest}\`?`];
}

/** Recognises a file's format. Throws `not_a_session` naming the file. */
export function detectFormat(source: SessionSource, path: string): AgentFormat {
  const format = AGENTS.find((candidate) => candidate.detect(source));
  if (format !== undefined) return format;
  throw userError(
    "not_a_session",
    `${path} is not a session in a format that jpg imports: expected one of ${formatNames().join(", ")}.`,
    {
      hints: [`If it is a session, name its format before it: \`jpg import ${exampleAgent().name} FILE\`.`],
    },
  );
}

/** Whether a file may be a session of a format by its name, and by that of its folder. */
export function isSessionName(
  { files: { endings, isNamed } }: Pick<AgentFormat, "files">,
  fileName: string,
  folder: string,
): boolean {
  return endings.some((ending) => fileName.endsWith(ending)) && isNamed?.(fileName, folder) !== false;
}

/** What formats make paths of. */
export function machineOf({ env, home }: Pick<Runtime, "env" | "home">): Machine {
  return { env, home, join, sha256, readText, namesIn };
}

/** Larger files are no lists of an agent's, bytes. */
const LARGEST_LIST = 1024 * 1024;

function readText(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= LARGEST_LIST ? readFileSync(path, "utf8") : null;
  } catch {
    return null; // whoever cannot read it is as well off without
  }
}

/** The names in a folder, ordered; none where there is no folder. */
export function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return []; // the agent was never used here
  }
}
