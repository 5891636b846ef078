// Puts a conversation where its agent looks for sessions and says how to go on; never overwrites what the agent wrote since.
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, userError } from "../../core/errors.ts";
import { nearestName } from "../../core/nearest-name.ts";
import { replaceFile } from "../../store/files/replace-file.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { claudeProjectDir } from "../sessions/session-files.ts";
import { readIfExists, type Workspace } from "../workspace/workspace.ts";
import { exportSessionId, renderSession } from "./export.ts";

const AGENTS: readonly string[] = ["claude-code"];

export interface ResumeReport {
  readonly agent: string;
  readonly session: string;
  /** Absolute path of the session file. */
  readonly path: string;
  /** Program and arguments that resume it. */
  readonly command: readonly string[];
  /** Directory to run it in. */
  readonly directory: string;
  readonly branch: string;
  /** Whether the file was there already, as written before. */
  readonly reused: boolean;
}

/** The agent to resume a branch in: the one that it came from, where jpg can. */
export function resumableAgent({ header }: BranchTree): string {
  const own = header.source?.format;
  return AGENTS.find((agent) => agent === own) ?? AGENTS[0] ?? "";
}

/** Writes the session file. Throws `unknown_agent`. */
export async function prepareResume(workspace: Workspace, tree: BranchTree, agent: string): Promise<ResumeReport> {
  if (!AGENTS.includes(agent)) {
    const nearest = nearestName(agent, AGENTS);
    throw userError("unknown_agent", `jpg cannot resume in ${agent} yet; it can in: ${AGENTS.join(", ")}.`, {
      hints: nearest === undefined ? ["`jpg export --to FORMAT` writes other formats."] : [`Did you mean ${nearest}?`],
    });
  }
  const directory = workspace.location.project?.root ?? workspace.runtime.cwd;
  const sessions = claudeProjectDir(workspace.runtime, directory);
  for (let n = 0; ; n++) {
    const session = exportSessionId(tree, n);
    const path = join(sessions, `${session}.jsonl`);
    const { text } = await renderSession(workspace, tree, session);
    const existing = await readIfExists(path);
    if (existing !== null && existing !== text) continue;
    if (existing === null) await writeWhole(path, text);
    return {
      agent,
      session,
      path,
      command: ["claude", "--resume", session],
      directory,
      branch: tree.branch,
      reused: existing !== null,
    };
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw userError("cannot_write", `${path} cannot be written: ${messageOf(error)}.`, {
      hints: [
        "CLAUDE_CONFIG_DIR names another folder for Claude Code's files.",
        "`jpg export --to claude-code -o FILE` writes anywhere; `claude --resume FILE` takes it.",
      ],
      cause: error,
    });
  }
}
