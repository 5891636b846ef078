// A range that was chosen on the timeline: what compacting it would do, asked of the server by the page's own form, which is filled
// with the range; and buttons that do it and undo it, in place. In a file the command is said.
import { addCopyButtons, fillIn } from "./commands.ts";
import { make, one, readHtml } from "./dom.ts";
import { changedHere } from "./watch-events.ts";

/** Arrow keys choose many ranges before they choose one, milliseconds. */
const WAIT_MS = 300;

let waiting: ReturnType<typeof setTimeout> | undefined;
let asking = new AbortController();

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What is drawn of a range, and the form that is sent for it. */
interface Panel {
  readonly form: HTMLFormElement;
  readonly said: HTMLElement;
  readonly buttons: HTMLElement;
  readonly signal: AbortSignal;
}

/** Asks about turns, positions inclusive. */
export function dryRun(range: Range): void {
  clearTimeout(waiting);
  asking.abort();
  asking = new AbortController();
  const form = one('form[action$="/compact"]');
  const said = make("span", { role: "status" });
  const buttons = make("span", { class: "fields" });
  const id = one("#turns")?.dataset["branch"] ?? "@";
  const words = `jpg compact ${id} --from ${range.from} --to ${range.to}`;
  if (form instanceof HTMLFormElement) fillRange(form, range);
  // The form's own says how it compacts, too.
  const command = make("code", { class: "command" }, form?.querySelector("code.command")?.textContent ?? words);
  const answer = make("p", {}, make("b", {}, `Turns ${range.from} to ${range.to}`), " ", said);
  const drawn = make("div", { id: "dry-run" }, answer, buttons, make("p", { class: "same" }, command));
  addCopyButtons(drawn);
  one("#dry-run")?.remove();
  one("#timeline")?.append(drawn);
  if (!(form instanceof HTMLFormElement)) return;
  said.textContent = "What would compacting them do? …";
  const panel = { form, said, buttons, signal: asking.signal };
  waiting = setTimeout(() => void ask(panel, range), WAIT_MS);
}

function fillRange(form: HTMLFormElement, range: Range): void {
  for (const [name, value] of Object.entries(range)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = String(value);
  }
  fillIn(form);
}

async function ask(panel: Panel, range: Range): Promise<void> {
  const { form, said, buttons, signal } = panel;
  const { lines } = await send(form.action, fieldsOf(form, "dry-run"), signal);
  if (signal.aborted) return;
  said.textContent = lines.join(" ");
  const manner = copyOfChoice(form, () => dryRun(range));
  const act = button("Compact", () => void doIt(panel));
  buttons.replaceChildren(...(manner === null ? [] : [make("label", {}, "with ", manner)]), act);
}

/** Compacts. A model is asked only on a page of its own, which says what that costs. */
async function doIt(panel: Panel): Promise<void> {
  const { form, said, buttons, signal } = panel;
  const before = one("#turns")?.dataset["commit"];
  buttons.replaceChildren();
  said.textContent = "Compacting …";
  const { lines, page } = await send(form.action, fieldsOf(form, "do"), signal);
  if (page?.querySelector('input[name="confirm"]') != null)
    return form.requestSubmit(form.querySelector<HTMLElement>('button[value="do"]'));
  said.textContent = lines.join(" ");
  const commit = page?.querySelector<HTMLElement>("#turns")?.dataset["commit"];
  const undo = page?.querySelector<HTMLInputElement>('form[action$="/revert"] [name="id"]');
  if (commit === undefined || commit === before || undo == null) return;
  changedHere();
  const address = form.action.replace(/\/compact$/, "/revert");
  buttons.replaceChildren(button("Undo", () => void undoIt(panel, address, undo.value)));
}

async function undoIt({ said, buttons, signal }: Panel, address: string, id: string): Promise<void> {
  buttons.replaceChildren();
  said.textContent = "Undoing …";
  const { lines } = await send(address, new URLSearchParams({ id }), signal);
  said.textContent = lines.join(" ");
  changedHere();
}

function button(name: string, act: () => void): HTMLElement {
  const made = make("button", { type: "button" }, name);
  made.addEventListener("click", act);
  return made;
}

/** The choice of how to compact, once more beside the answer; what is chosen here is chosen in the form. */
function copyOfChoice(form: HTMLFormElement, onChosen: () => void): HTMLSelectElement | null {
  const own = form.querySelector("select");
  const copy = own?.cloneNode(true);
  if (own === null || !(copy instanceof HTMLSelectElement)) return null;
  copy.removeAttribute("name");
  copy.value = own.value;
  copy.addEventListener("change", () => {
    own.value = copy.value;
    onChosen();
  });
  return copy;
}

function fieldsOf(form: HTMLFormElement, how: string): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.append(name, value);
  fields.set("how", how);
  return fields;
}

interface Answer {
  /** What the server said, one line each. */
  readonly lines: readonly string[];
  /** The page that it answered with; null = it did not. */
  readonly page: Document | null;
}

async function send(address: string, body: URLSearchParams, signal: AbortSignal): Promise<Answer> {
  try {
    const answer = await fetch(address, { method: "POST", body, signal });
    const page = readHtml(await answer.text());
    const lines = [...page.querySelectorAll(answer.ok ? "#notices p" : "main p:not(:has(a))")];
    return { lines: lines.map((line) => line.textContent ?? ""), page };
  } catch {
    return { lines: ["The server did not answer."], page: null };
  }
}
