// What a served page does beyond what it says: it tells when the store changed under it, and takes keys. Pages work without.
const POLL_MS = 2000;

const own = decodeURIComponent(/^\/c\/([^/]+)/.exec(location.pathname)?.[1] ?? "");
let known = null;

async function look() {
  let state;
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
  else if (now !== known) tell("This conversation changed meanwhile.", true);
  setTimeout(look, POLL_MS);
}

function tell(text, canReload = false) {
  const notices = document.getElementById("notices");
  if (notices === null || notices.dataset.told === text) return;
  notices.dataset.told = text;
  const line = document.createElement("p");
  line.textContent = `${text} `;
  if (canReload) {
    const link = document.createElement("a");
    link.href = location.pathname;
    link.textContent = "Show it as it is now";
    line.append(link);
  }
  notices.append(line);
}

/** Moves to the next or previous of some elements: from the one that has the focus, else from where the page is. */
function step(selector, by) {
  const all = [...document.querySelectorAll(selector)];
  const target = all[placeAfter(all, by)];
  if (target === undefined) return;
  target.scrollIntoView({ block: "start" });
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

function placeAfter(all, by) {
  const focused = all.findIndex((element) => element.contains(document.activeElement));
  // Whoever scrolled on since means what is in sight.
  if (focused >= 0 && isInSight(all[focused])) return focused + by;
  const tops = all.map((element) => element.getBoundingClientRect().top);
  return by > 0 ? tops.findIndex((top) => top > 8) : tops.findLastIndex((top) => top < -8);
}

function isInSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

const KEYS = {
  j: () => step(".turn", 1),
  k: () => step(".turn", -1),
  "]": () => step(".row:is(.hidden, .changed, .inserted)", 1),
  "[": () => step(".row:is(.hidden, .changed, .inserted)", -1),
  "/": () => document.querySelector("input[type=search]")?.focus(),
  o: () => {
    const turn = document.activeElement?.closest(".turn, .row") ?? document;
    const folded = [...turn.querySelectorAll("details")];
    const isOpen = folded.some((element) => !element.open);
    for (const element of folded) element.open = isOpen;
  },
  "?": () => tell("Keys: j k next and previous turn, ] [ next and previous change, o open or fold, / find."),
};

document.addEventListener("keydown", (event) => {
  const isTyped = event.target instanceof HTMLElement && event.target.closest("input, select, textarea") !== null;
  if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
});

look();
