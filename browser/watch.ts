// Polls the tips of branches on a served page: applies changes, and says if it cannot or if the server has ended.
import { make, one } from "./dom.ts";
import { applyUpdate } from "./live.ts";
import { showNotice } from "./notices.ts";
import { onChangedHere } from "./watch-events.ts";

const POLL_MS = 2000;

/** Begins to ask. */
export function watch(): void {
  const own = decodeURIComponent(/^\/[^/]+\/c\/([^/]+)/.exec(location.pathname)?.[1] ?? "");
  let known: string | null = one("#turns")?.dataset["commit"] ?? null;
  // A form that was sent brings another page: what it changes need not come in here, and may leave nothing that could.
  let isLeaving = false;
  /** Takes in what changed; false = nothing more will. */
  const check = async (isOwn: boolean): Promise<boolean> => {
    const state = await readState();
    if (isLeaving) return true;
    if (typeof state === "string") {
      showNotice(state);
      return false;
    }
    const now = own === "" ? JSON.stringify(state) : (state[own] ?? "");
    const isChanged = known !== null && now !== known;
    known = now;
    if (isChanged) await follow(now, isOwn);
    return true;
  };
  const look = async (): Promise<void> => {
    if (await check(false)) setTimeout(look, POLL_MS);
  };
  onChangedHere(() => void check(true));
  addEventListener("submit", (event) => {
    isLeaving ||= !event.defaultPrevented;
  });
  addEventListener("pageshow", () => {
    isLeaving = false;
  });
  void look();
}

/** Reads the tips of branches; a text = why the server no longer answers. */
async function readState(): Promise<Readonly<Record<string, string>> | string> {
  try {
    const answer = await fetch(`/${location.pathname.split("/")[1]}/state`);
    if (answer.ok) return await answer.json();
    return answer.status === 403
      ? "This page is out of date: jpg serve was restarted. Open the address that it printed."
      : "The store can no longer be read: nothing on this page works now.";
  } catch {
    return "jpg serve has ended: nothing on this page works any more.";
  }
}

async function follow(now: string, isOwn: boolean): Promise<void> {
  if (now === "") showNotice("This conversation is gone: you see its last state.");
  else if (!(await updateAndReport(isOwn)))
    showNotice(
      one("#turns") === null ? "Something has changed." : "This conversation has changed.",
      make("a", { href: location.pathname }, "Show it as it is now"),
    );
}

async function updateAndReport(isOwn: boolean): Promise<boolean> {
  try {
    const words = await applyUpdate();
    if (words !== null && !isOwn) showNotice(words);
    return words !== null;
  } catch {
    return false;
  }
}
