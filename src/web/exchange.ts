// What a route is asked and what it answers.

import type { Workspace } from "../app/conversation/workspace.ts";
import type { PageReader } from "../app/look/page-reader.ts";
import type { Place } from "./pages/document.ts";

export interface PageAnswer {
  readonly type: "text/html" | "text/plain" | "text/css" | "text/javascript" | "application/json";
  readonly body: string;
}

/** Sends who asked on to another page of this server, which says what came of it. */
export interface SentOn {
  readonly address: string;
  readonly said: readonly string[];
}

export interface PageRequest {
  readonly workspace: Workspace;
  readonly pages: PageReader;
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
