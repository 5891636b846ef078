// Goes to a turn, an event or a compaction by its name, even if it is folded, hidden by the chosen side, or not loaded yet.
import { isShown, one, readHtml } from "./dom.ts";
import { loadTurn, partArrived } from "./parts.ts";

/** Follows the links of the page to itself without asking for it anew, and the address that it was opened with. */
export function followLinks(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0)
      return;
    const link = event.target.closest("a");
    if (link === null || linkAddress(link) === null) return;
    const address = linkAddress(link);
    if (address === null || address.hash === "" || address.pathname !== location.pathname) return;
    event.preventDefault();
    if (location.hash !== address.hash) history.pushState(null, "", address);
    void go(address);
  });
  addEventListener("popstate", () => void go(new URL(location.href)));
  if (location.hash !== "") void go(new URL(location.href));
}

/** Links in a picture have their address in another form. */
function linkAddress(link: Element): URL | null {
  const address = link.getAttribute("href");
  return address === null ? null : new URL(address, location.href);
}

/** Shows what an address names; the address itself is left alone. */
export async function go(address: URL): Promise<void> {
  const name = decodeURIComponent(address.hash.slice(1));
  const target = document.getElementById(name) ?? (await loadTarget(name, address));
  if (target !== null) show(target);
}

async function loadTarget(name: string, address: URL): Promise<HTMLElement | null> {
  const turn = /^turn-(\d+)$/.exec(name)?.[1] ?? /^(\d+)/.exec(address.searchParams.get("at") ?? "")?.[1];
  if (turn !== undefined) await loadTurn(Number(turn));
  return document.getElementById(name) ?? loadEvent(name);
}

/** Loads an event of an unknown turn, or far down in a long one, from the page opened at it. */
async function loadEvent(name: string): Promise<HTMLElement | null> {
  const own = one("#turns")?.dataset["address"];
  if (own === undefined || !name.startsWith("event-")) return null;
  const answer = await fetch(`${own}?at=:${name.slice("event-".length)}`);
  if (!answer.ok) return null;
  const section = readHtml(await answer.text())
    .getElementById(name)
    ?.closest<HTMLElement>(".turn");
  if (section == null || !(await loadTurn(Number(section.dataset["turn"])))) return null;
  if (document.getElementById(name) === null) {
    document.getElementById(section.id)?.replaceWith(section);
    partArrived(section);
  }
  return document.getElementById(name);
}

/** Opens what folds it, chooses a side that shows it, and goes there. */
export function show(target: HTMLElement): void {
  for (let at: Element | null = target; at !== null; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  const folded = target.matches(".row") ? target.querySelector("details") : null;
  if (folded !== null) folded.open = true;
  if (!isShown(target)) showAll();
  for (const old of document.querySelectorAll(".here")) old.classList.remove("here");
  target.classList.add("here");
  target.scrollIntoView({ block: "start" });
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

/** Shows all rows. */
export function showAll(): void {
  const [both, prompts] = [one("#side-both"), one("#prompts-only")];
  if (prompts instanceof HTMLInputElement) prompts.checked = false;
  if (!(both instanceof HTMLInputElement)) return;
  both.checked = true;
  both.dispatchEvent(new Event("change"));
}
