// A conversation as one HTML file that works wherever it lies: `jpg export --to html`.

import type { BranchTree } from "../app/branch/branch-tree.ts";
import { readConversationPage } from "../app/page/conversation-page.ts";
import { sha256 } from "../app/workspace/object-id.ts";
import { readTemplate } from "../app/workspace/templates.ts";
import type { Workspace } from "../app/workspace/workspace.ts";
import { renderPage } from "./pages/render-page.ts";

/** Writes a branch as an HTML document. */
export async function renderStaticPage(workspace: Workspace, tree: BranchTree): Promise<string> {
  const page = await readConversationPage(workspace, tree);
  const css = await readTemplate("page.css");
  return renderPage(page, { kind: "file", css, digest: Buffer.from(sha256(css), "hex").toString("base64") });
}
