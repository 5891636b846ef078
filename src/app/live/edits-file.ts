// The file of edits in force, for agents that store none in their sessions: what it says is always jpg's view, whoever compacted or
// took back.
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders, readFileIfExists, replaceFile } from "../../store/files.ts";
import { loadTip } from "../conversation/tree.ts";
import { inlineView } from "../conversation/turns.ts";
import { loadView } from "../conversation/view.ts";
import { formatByName, machineOf } from "../sessions/session-registry.ts";
import type { LiveConversation } from "./live-rules.ts";

/** Writes the edits that lead to the view as it is now; without any, there is no file. */
export async function keepEdits({ workspace, request, tree, readSession }: LiveConversation): Promise<void> {
  const { live } = formatByName(request.agent);
  const path = live?.file?.(machineOf(workspace.runtime), request.session) ?? null;
  if (path === null || live?.edits === undefined) return;
  const { store } = workspace;
  const tip = (await loadTip(store, tree.branch)) ?? tree;
  const { view } = await loadView(store, tip);
  const whole = await inlineView(store, tip.commit, view);
  const { edits } = live.edits(await readSession(), whole);
  if (edits.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  const byHandle = Object.fromEntries(edits.map(({ handle, replacement }) => [handle, replacement]));
  const text = `${JSON.stringify({ jpg: 1, session: request.session, edits: byHandle })}\n`;
  if ((await readFileIfExists(path)) === text) return;
  makeFolders(dirname(path), 0o700);
  await replaceFile(path, text, { mode: 0o600, isCache: true });
}
