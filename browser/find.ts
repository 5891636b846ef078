// Finds words in all of a conversation: the server looks where it has one, a file in itself. What is found is a list of links.
import { all, make, one, readHtml } from "./dom.ts";
import { unpacked } from "./unpack.ts";

/** Most that is listed in a file. */
const MOST = 200;
const AROUND = 60;

/** Takes the form over. */
export function handleFind(): void {
  const form = one("#find");
  if (!(form instanceof HTMLFormElement)) return;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = String(new FormData(form).get("words") ?? "").trim();
    if (words !== "") void list(form, words);
  });
}

async function list(form: HTMLFormElement, words: string): Promise<void> {
  const found = form.getAttribute("action") === null ? await findHere(words) : await findThere(form, words);
  const old = one("#found");
  const close = make("button", { type: "button" }, "Close");
  const panel = make("section", { id: "found", "aria-label": `Found: ${words}`, tabindex: "-1" }, close, ...found);
  close.addEventListener("click", () => panel.remove());
  old?.remove();
  form.closest(".bar")?.append(panel);
  panel.querySelector<HTMLElement>("a, button")?.focus();
}

async function findThere(form: HTMLFormElement, words: string): Promise<Node[]> {
  const answer = await fetch(`${form.action}?words=${encodeURIComponent(words)}`);
  return [...readHtml(await answer.text()).querySelectorAll("main > *")];
}

async function findHere(words: string): Promise<Node[]> {
  await unpacked();
  const wanted = words.toLowerCase();
  const hits: HTMLElement[] = [];
  for (const row of all(".row[id]")) {
    const text = row.textContent ?? "";
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    const turn = row.closest<HTMLElement>(".turn")?.dataset["turn"] ?? "";
    const [from, to] = [Math.max(0, at - AROUND), at + wanted.length];
    const link = make("a", { href: `#${encodeURIComponent(row.id)}` });
    link.append(
      make("span", { class: "facts" }, `turn ${turn}`),
      ` ${text.slice(from, at)}`,
      make("mark", {}, text.slice(at, to)),
      text.slice(to, to + AROUND),
    );
    hits.push(make("li", {}, link));
    if (hits.length === MOST) break;
  }
  return [hits.length === 0 ? make("p", { class: "note" }, "No match.") : make("ol", { class: "hits" }, ...hits)];
}
