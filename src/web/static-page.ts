// A conversation as one HTML file that works wherever it lies, fit to be handed over: `jpg export --to html`, `jpg share --html`.
import { deflateRawSync } from "node:zlib";
import { readPageScript, sha256 } from "../app/conversation/runtime.ts";
import type { BranchTree } from "../app/conversation/tree.ts";
import type { Workspace } from "../app/conversation/workspace.ts";
import { describeLeftOut, type PageWish, readMaskedPage, type StaticPage } from "../app/share/masked-page.ts";
import type { OwnText } from "./pages/document.ts";
import { wholePage } from "./pages/page-parts.ts";
import { renderPage } from "./pages/render-page.ts";
import { readStyle } from "./style.ts";

/** Writes a branch as an HTML document that says what is not in it. Throws `redact_incomplete`. */
export async function renderStaticPage(workspace: Workspace, tree: BranchTree, wish: PageWish): Promise<StaticPage> {
  const { page, report } = await readMaskedPage(workspace, tree, wish);
  const [css, script] = await Promise.all([readStyle(), readPageScript()]);
  const place = {
    kind: "file",
    css: ownText(css),
    script: ownText(script),
    pack,
    notes: describeLeftOut(report),
  } as const;
  const html = renderPage(page, place, { parts: wholePage(page), whole: (event) => event });
  return { name: page.conversation, html, report };
}

function ownText(text: string): OwnText {
  return { text, digest: Buffer.from(sha256(text), "hex").toString("base64") };
}

function pack(text: string): string {
  return deflateRawSync(text, { level: 9 }).toString("base64");
}
