// A conversation as one HTML file that works wherever it lies: `jpg export --to html`.

import type { BranchTree } from "../app/branch/branch-tree.ts";
import { readConversationPage, readPayloads } from "../app/page/conversation-page.ts";
import { sha256 } from "../app/workspace/object-id.ts";
import { readPageScript } from "../app/workspace/templates.ts";
import type { Workspace } from "../app/workspace/workspace.ts";
import type { OwnText } from "./pages/document.ts";
import { wholePage } from "./pages/page-parts.ts";
import { renderPage } from "./pages/render-page.ts";
import { readStyle } from "./style.ts";

/** Writes a branch as an HTML document. */
export async function renderStaticPage(workspace: Workspace, tree: BranchTree): Promise<string> {
  const page = await readConversationPage(workspace, tree);
  const rows = page.turns.flatMap((turn) => turn.rows);
  const [css, script, whole] = await Promise.all([readStyle(), readPageScript(), readPayloads(workspace, page, rows)]);
  const place = { kind: "file", css: ownText(css), script: ownText(script) } as const;
  return renderPage(page, place, { parts: wholePage(page), whole });
}

function ownText(text: string): OwnText {
  return { text, digest: Buffer.from(sha256(text), "hex").toString("base64") };
}
