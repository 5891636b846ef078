// What is answered at which address: a table of a few lines each onto `app`.
import { diffConversation } from "../app/diff/diff.ts";
import { listConversations } from "../app/inspect/list.ts";
import { resolveWholeTree } from "../app/names/resolve-id.ts";
import { readConversationPage } from "../app/page/conversation-page.ts";
import { readTemplate } from "../app/workspace/templates.ts";
import type { Workspace } from "../app/workspace/workspace.ts";
import { ACTIONS } from "./actions.ts";
import type { Action } from "./pages/addresses.ts";
import type { Place } from "./pages/document.ts";
import { renderDiffPage } from "./pages/render-diff.ts";
import { renderListPage } from "./pages/render-list.ts";
import { renderPage } from "./pages/render-page.ts";

export interface PageAnswer {
  readonly type: "text/html" | "text/css" | "text/javascript" | "application/json";
  readonly body: string;
}

/** Sends who asked on to another page of this server, which says what came of it. */
export interface SentOn {
  readonly address: string;
  readonly said: readonly string[];
}

export interface PageRequest {
  readonly workspace: Workspace;
  /** What the path names, decoded. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly place: Place;
}

export interface Route {
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly run: (exchange: PageRequest) => Promise<PageAnswer | SentOn>;
}

const page = (body: string): PageAnswer => ({ type: "text/html", body });

export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: /^\/$/,
    run: async ({ workspace, place, query }) => {
      const { rows } = await listConversations(workspace, { all: true });
      return page(renderListPage(rows, place, query.get("words") ?? ""));
    },
  },
  {
    method: "GET",
    path: /^\/page\.css$/,
    run: async () => ({ type: "text/css", body: await readTemplate("page.css") }),
  },
  {
    method: "GET",
    path: /^\/page\.js$/,
    run: async () => ({ type: "text/javascript", body: await readTemplate("page.js") }),
  },
  {
    method: "GET",
    path: /^\/state$/,
    run: async ({ workspace }) => ({ type: "application/json", body: JSON.stringify(await readState(workspace)) }),
  },
  {
    method: "GET",
    path: /^\/c\/([^/]+)$/,
    run: async ({ workspace, names: [branch = ""], place }) =>
      page(renderPage(await readConversationPage(workspace, await resolveWholeTree(workspace, branch)), place)),
  },
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/diff\/([^/]+)$/,
    run: async ({ workspace, names: [branch = "", compaction = ""], place }) =>
      page(renderDiffPage(branch, await diffConversation(workspace, [branch, compaction], {}), place)),
  },
  ...(Object.keys(ACTIONS) as Action[]).map(
    (action): Route => ({
      method: "POST",
      path: new RegExp(`^/c/([^/]+)/${action}$`),
      run: async ({ workspace, names: [branch = ""], form }) =>
        ACTIONS[action](workspace, await resolveWholeTree(workspace, branch), form),
    }),
  ),
];

/** Where all branches stand: what a page looks at to know whether it is still true. */
async function readState({ store }: Workspace): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await store.listBranches()).map(({ name, commit }) => [name, commit]));
}
