// What compacting a range would do: asked of the server by the page's own form, which is filled with the range; in a file the
// command is said.
import { addCopyButtons, fillIn } from "./commands.ts";
import { make, one, readHtml } from "./dom.ts";

/** Arrow keys choose many ranges before they choose one, milliseconds. */
const WAIT_MS = 300;

let waiting: ReturnType<typeof setTimeout> | undefined;
let asking = new AbortController();

/** Asks about turns, positions inclusive. */
export function dryRun({ from, to }: { readonly from: number; readonly to: number }): void {
  clearTimeout(waiting);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const form = one('form[action$="/compact"]');
  const said = make("span", { role: "status" });
  const id = one("#turns")?.dataset["branch"] ?? "@";
  const command = `jpg compact ${id} --from ${from} --to ${to} --dry-run`;
  const panel = make(
    "p",
    { id: "dry-run" },
    make("b", {}, `Turns ${from} to ${to}`),
    " ",
    said,
    " ",
    make("code", { class: "command" }, command),
  );
  addCopyButtons(panel);
  one("#dry-run")?.remove();
  one("#timeline")?.append(panel);
  if (!(form instanceof HTMLFormElement)) return;
  setField(form, "from", from);
  setField(form, "to", to);
  fillIn(form);
  said.textContent = "What would compacting them do? …";
  waiting = setTimeout(() => {
    void ask(form, signal).then((lines) => {
      if (signal.aborted) return;
      said.textContent = lines.join(" ");
      panel.append(" ", openForm(form));
    });
  }, WAIT_MS);
}

function setField(form: HTMLFormElement, name: string, value: number): void {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = String(value);
}

function openForm(form: HTMLFormElement): HTMLElement {
  const button = make("button", { type: "button" }, "Compact …");
  button.addEventListener("click", () => {
    for (let at: Element | null = form; at !== null; at = at.parentElement)
      if (at instanceof HTMLDetailsElement) at.open = true;
    form.scrollIntoView({ block: "center" });
    form.querySelector("select")?.focus();
  });
  return button;
}

async function ask(form: HTMLFormElement, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
    body.set("how", "dry-run");
    const answer = await fetch(form.action, { method: "POST", body, signal });
    const page = readHtml(await answer.text());
    const lines = [...page.querySelectorAll(answer.ok ? "#notices p" : "main p:not(:has(a))")];
    return lines.map((line) => line.textContent ?? "");
  } catch {
    return ["The server did not answer."];
  }
}
