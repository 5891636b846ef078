// Holds a conversation's view, or a session file as it stands, against the rules of providers.

import { type Event, fieldsOf, type MediaPart, mediaOf, type View } from "../../core/conversation/event.ts";
import { projectTurns } from "../../core/conversation/projection.ts";
import { defined } from "../../core/json.ts";
import { toNaiveList } from "../../core/model/naive-messages.ts";
import { PROVIDER_NAMES, type ProviderName } from "../../core/model/provider-rules.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import { inlineView } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadView } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";
import {
  type CheckReport,
  type CheckRequest,
  type CheckViolation,
  createCheckReport,
  describeList,
  type ListCheck,
  ownModel,
} from "./check-report.ts";
import { PROVIDER_CHECKS } from "./provider-checks.ts";

/**
 * Checks the view of a branch as jpg would send it. What it finds as an error is a mistake of jpg, but for images: these are sent
 * as they are, and violations name their events.
 */
export async function checkConversation(
  workspace: Workspace,
  tree: BranchTree,
  request: CheckRequest,
): Promise<CheckReport> {
  const { view } = await loadView(workspace.store, tree);
  const whole = await inlineView(workspace.store, tree.commit, view);
  return createCheckReport("view", tree.branch, checkEach(whole, request, checkView));
}

/** Checks what a session would send if its agent laid it out and repaired nothing. Violations name their events. */
export function checkSession(session: ImportedSession, source: string, request: CheckRequest): CheckReport {
  const turns = Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
  const view = projectTurns(turns, session.compactions);
  return createCheckReport("session", source, checkEach(view, request, checkNaively));
}

type ViewCheck = (view: View, provider: ProviderName, model: string | undefined) => ListCheck;

/** The view's own model counts for its own provider only; a model that the user names, for all. */
function checkEach(view: View, { provider, model }: CheckRequest, check: ViewCheck): readonly ListCheck[] {
  const own = ownModel(view);
  const providers = provider === "all" ? PROVIDER_NAMES : [provider ?? own.provider];
  return providers.map((name) => check(view, name, model ?? (name === own.provider ? own.model : undefined)));
}

function checkView(view: View, provider: ProviderName, model: string | undefined): ListCheck {
  const options = model === undefined ? {} : { model };
  const list = PROVIDER_CHECKS[provider].render(view, options);
  // A view that shows nothing is a list to which the first request will be added.
  const violations = list.length === 0 ? [] : PROVIDER_CHECKS[provider].check(list, { ...options, complete: false });
  const eventOf = violations.length === 0 ? () => undefined : mediaEvents(view, list);
  const named = violations.map(
    (violation): CheckViolation => ({ ...violation, ...defined({ event: eventOf(violation) }) }),
  );
  return { checked: describeList(provider, model, list), violations: named };
}

/** Tells which event's image is at the place of a violation; of equal images, each is told once, in order. */
function mediaEvents(view: View, list: readonly unknown[]): (violation: CheckViolation) => string | undefined {
  const media = view.turns
    .flatMap(({ events }) => events)
    .flatMap((event) =>
      mediaIn(event).flatMap(({ data }) => (typeof data === "string" ? [{ data, id: event.id }] : [])),
    )
    .filter(({ data }) => data !== "");
  return ({ position: { message, block } }) => {
    const { content, parts, output } = fieldsOf(list[message]);
    const blocks = [content, parts, output].find((value): value is unknown[] => Array.isArray(value)) ?? [];
    const text = JSON.stringify(blocks[block ?? -1] ?? "");
    const at = media.findIndex(({ data }) => text.includes(data));
    const found = media[at]?.id;
    if (at >= 0 && media.some(({ data }, other) => other > at && data === media[at]?.data)) media.splice(at, 1);
    return found;
  };
}

function mediaIn(event: Event): readonly MediaPart[] {
  if (event.type === "chat_request" || event.type === "tool_call_response") return mediaOf(event.content);
  return event.type === "chat_response" && event.message !== undefined ? mediaOf(event.message) : [];
}

function checkNaively(view: View, provider: ProviderName, model: string | undefined): ListCheck {
  const entries = toNaiveList(view, provider);
  const list = entries.map(({ value }) => value);
  const options = { complete: false, ...defined({ model }) };
  const violations = list.length === 0 ? [] : PROVIDER_CHECKS[provider].check(list, options);
  const named = violations.map((violation): CheckViolation => {
    const events = entries[violation.position.message]?.events ?? [];
    const event = events[violation.position.block ?? 0] ?? events[0];
    return event === undefined ? violation : { ...violation, event };
  });
  return { checked: describeList(provider, model, list), violations: named };
}
