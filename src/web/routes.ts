// What is answered at which address: a table of a few lines each onto `app`.

import { readPageScript } from "../app/conversation/runtime.ts";
import type { Workspace } from "../app/conversation/workspace.ts";
import { readCompactionPage } from "../app/look/compaction-page.ts";
import { readComparePage } from "../app/look/conversation-page.ts";
import { listConversations } from "../app/look/list.ts";
import { searchConversations } from "../app/look/search.ts";
import { readAnatomy } from "../app/look/stats.ts";
import { resolveWhole, resolveWholeTree } from "../app/names/resolve-id.ts";
import { ACTIONS } from "./actions.ts";
import type { PageAnswer, Route } from "./exchange.ts";
import type { Action } from "./pages/addresses.ts";
import { renderAnatomyPage } from "./pages/render-anatomy.ts";
import { renderCompactionPage } from "./pages/render-compaction-page.ts";
import { renderComparePage } from "./pages/render-compare.ts";
import { renderConfirmPage } from "./pages/render-confirm.ts";
import { renderListPage } from "./pages/render-list.ts";
import { PARTS } from "./parts.ts";
import { readStyle } from "./style.ts";

const page = (body: string): PageAnswer => ({ type: "text/html", body });

export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: /^\/$/,
    run: async ({ workspace, place, query }) => {
      const { rows } = await listConversations(workspace, { all: true });
      const words = query.get("words")?.trim() ?? "";
      const search = { pattern: words, ignoreCase: true, limit: 50 };
      const found = words === "" ? null : await searchConversations(workspace, search);
      return page(renderListPage({ rows, words, found, now: workspace.runtime.now() }, place));
    },
  },
  {
    method: "GET",
    path: /^\/page\.css$/,
    run: async () => ({ type: "text/css", body: await readStyle() }),
  },
  {
    method: "GET",
    path: /^\/page\.js$/,
    run: async () => ({ type: "text/javascript", body: await readPageScript() }),
  },
  {
    method: "GET",
    path: /^\/state$/,
    run: async ({ workspace }) => ({ type: "application/json", body: JSON.stringify(await readState(workspace)) }),
  },
  ...PARTS,
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/compaction\/([^/]+)$/,
    run: async ({ workspace, names: [branch = "", compaction = ""], place }) => {
      const tree = await resolveWholeTree(workspace, branch);
      return page(renderCompactionPage(branch, await readCompactionPage(workspace, tree, compaction), place));
    },
  },
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/compare\/([^/]+)$/,
    run: async ({ workspace, names: [left = "", right = ""], place }) =>
      page(renderComparePage(await readComparePage(workspace, left, right), place)),
  },
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/anatomy$/,
    run: async ({ workspace, names: [branch = ""], place }) =>
      page(renderAnatomyPage(await readAnatomy(workspace, await resolveWholeTree(workspace, branch)), place)),
  },
  ...(Object.keys(ACTIONS) as Action[]).map(
    (action): Route => ({
      method: "POST",
      path: new RegExp(`^/c/([^/]+)/${action}$`),
      run: async ({ workspace, names: [branch = ""], form, place }) => {
        const outcome = await ACTIONS[action](workspace, await resolveWhole(workspace, branch), form);
        return "confirm" in outcome ? page(renderConfirmPage(branch, outcome.confirm, place)) : outcome;
      },
    }),
  ),
];

/** Where all branches stand: what a page looks at to know whether it is still true. */
async function readState({ store }: Workspace): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await store.listBranches()).map(({ name, commit }) => [name, commit]));
}
