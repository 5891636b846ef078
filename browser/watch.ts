// A served page asks where branches stand, and says when it is out of date or when the server has ended.
import { make } from "./dom.ts";
import { tell } from "./notices.ts";

const POLL_MS = 2000;

/** Begins to ask. */
export function watch(): void {
  const own = decodeURIComponent(/^\/c\/([^/]+)/.exec(location.pathname)?.[1] ?? "");
  let known: string | null = null;
  const look = async (): Promise<void> => {
    let state: Readonly<Record<string, string>>;
    try {
      const answer = await fetch("/state");
      if (!answer.ok)
        return tell("This page is out of date: jpg serve was started anew. Open the address that it printed.");
      state = await answer.json();
    } catch {
      return tell("jpg serve has ended: nothing on this page can be done any more.");
    }
    const now = own === "" ? JSON.stringify(state) : (state[own] ?? "");
    if (known === null) known = now;
    else if (now === "") tell("This conversation is not here any more.");
    else if (now !== known)
      tell("This conversation changed meanwhile.", make("a", { href: location.pathname }, "Show it as it is now"));
    setTimeout(look, POLL_MS);
  };
  void look();
}
