/** The review: lines are chosen by click, shift-click or keys; what is said stays with the server until it is sent. */

import { actAfter, whenDone, whenRefused } from "./actions";
import { all, isTyping, one, swap } from "./dom";
import { complain, offer } from "./notices";
import { page, post } from "./session";
import { start } from "./start";
import { follow } from "./stream";

const main = one("main");
const worker = main?.dataset["worker"] ?? "";
let first: HTMLElement | null = null;
let last: HTMLElement | null = null;

const rows = (file: Element | null): HTMLElement[] => (file ? all("[data-line]", file) : []);
const fileOf = (row: Element): HTMLElement | null => row.closest<HTMLElement>(".file");
const lineOf = (row: HTMLElement): number => Number(row.dataset["line"]);

// --- choosing lines ---------------------------------------------------------

function choose(row: HTMLElement, extend: boolean): void {
  const same = first && fileOf(first) === fileOf(row);
  if (!extend || !same) first = row;
  last = row;
  const [from, to] = chosen();
  for (const each of all("[data-line]")) {
    const inside = fileOf(each) === fileOf(row) && lineOf(each) >= from && lineOf(each) <= to;
    each.classList.toggle("chosen", inside);
    one(".add", each)?.setAttribute("aria-pressed", String(inside));
  }
}

function chosen(): [number, number] {
  const ends = [first, last].map((row) => (row ? lineOf(row) : 0));
  return [Math.min(...ends), Math.max(...ends)];
}

/** The form goes below the last line that was chosen. */
function comment(): void {
  const form = one<HTMLFormElement>("#comment-form");
  if (!form || !first || !last) return;
  const [from, to] = chosen();
  const path = fileOf(last)?.dataset["path"] ?? "";
  const put = (name: string, value: string): void => {
    const field = one<HTMLInputElement>(`[name='${name}']`, form);
    if (field) field.value = value;
  };
  put("path", path);
  put("line", String(from));
  put("end_line", String(to));
  const place = one(".place", form);
  if (place) place.textContent = `${path}:${from}${to === from ? "" : `-${to}`}`;
  const end = rows(fileOf(last)).find((row) => lineOf(row) === to);
  const holder = one<HTMLTableRowElement>("#comment-row");
  if (!end || !holder) return;
  end.after(holder);
  holder.hidden = false;
  one<HTMLTextAreaElement>("textarea", form)?.focus();
}

function closeForm(): void {
  const holder = one("#comment-row");
  if (holder) {
    holder.hidden = true;
    one("#comment-home")?.append(holder);
  }
  last && one(".add", last)?.focus();
}

/** The next comment can be written while this one is on its way. */
document.addEventListener("submit", (event) => {
  if ((event.target as Element).id === "comment-form") closeForm();
});

/** Opens the form where it was, or was to be: what is written in it stays. */
function reopen(path: string, from: number, to: number): void {
  const file = all(".file").find((each) => each.dataset["path"] === path) ?? null;
  const ends = [from, to].map((line) => rows(file).find((row) => lineOf(row) === line));
  if (!ends[0] || !ends[1]) return;
  choose(ends[0], false);
  choose(ends[1], true);
  comment();
}

whenRefused((body, form) => {
  const field = one<HTMLTextAreaElement>("textarea", form);
  if (!field || field.value) return;
  field.value = String(body["text"]);
  reopen(String(body["path"]), Number(body["line"]), Number(body["end_line"]));
});

document.addEventListener("click", (event) => {
  const at = event.target as Element;
  const add = at.closest<HTMLElement>(".add");
  const row = add?.closest<HTMLElement>("[data-line]");
  if (row) {
    choose(row, event.shiftKey);
    comment();
  }
  if (at.closest("[data-cancel-comment]")) closeForm();
});

/** j and k go from line to line, J and K take more lines along, c comments, n and p go from file to file. */
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && isTyping()) closeForm();
  if (isTyping() || event.ctrlKey || event.metaKey || event.altKey) return;
  const lines = all("[data-line]").filter((row) => row.offsetParent !== null);
  const at = last ? lines.indexOf(last) : -1;
  const step = { j: 1, J: 1, k: -1, K: -1 }[event.key];
  if (step) {
    const to = lines[Math.min(lines.length - 1, Math.max(0, at + step))];
    if (!to) return;
    choose(to, event.key === "J" || event.key === "K");
    one(".add", to)?.focus({ preventScroll: true });
    to.scrollIntoView({ block: "nearest" });
  } else if (event.key === "c" && last) comment();
  else if (event.key === "n" || event.key === "p") {
    const files = all(".file");
    const here = last ? files.indexOf(fileOf(last) as HTMLElement) : -1;
    const to = files[Math.min(files.length - 1, Math.max(0, here + (event.key === "n" ? 1 : -1)))];
    const row = to && rows(to)[0];
    if (row) choose(row, false);
    to?.scrollIntoView();
  } else return;
  event.preventDefault();
});

// --- what is shown, and what it is now --------------------------------------

/** Of the worker, as it is shown here or was told of since. Not all states are told of: an agent may be quick. */
let state = one("#review")?.dataset["state"] ?? "";

async function drawAnew(): Promise<void> {
  try {
    const fresh = (await page(location.pathname + location.search)).getElementById("review");
    const old = one("#review");
    const path = last && fileOf(last)?.dataset["path"];
    const at = path && one("#comment-row")?.hidden === false ? { path, lines: chosen() } : null;
    closeForm();
    if (fresh && old) swap(old, fresh);
    state = one("#review")?.dataset["state"] ?? state;
    first = last = null;
    if (at) reopen(at.path, ...at.lines);
    await seen();
  } catch (problem) {
    complain(problem);
  }
}

let told = "";

/** A person has this very tree before them: what is accepted later is compared with it. */
async function seen(): Promise<void> {
  const { tree, state: standing } = one("#review")?.dataset ?? {};
  if (!tree || tree === told || standing !== "needs_review" || main?.dataset["readOnly"] === "yes") return;
  told = tree;
  const noted = post(`/api/v1/workers/${worker}/reviewed`, { tree }).catch((problem) => {
    if (problem.status === 409) offer("The work has changed since this page was drawn.", "Show it", () => void drawAnew());
    else complain(problem);
  });
  actAfter(noted);
  await noted;
}

whenDone(() => void drawAnew());

follow({
  change(change) {
    const card = change.cards.find((each) => each.worker === worker);
    if (!card || card.state === state) return;
    state = card.state;
    if (state === "needs_review") offer(`${worker} is ready for review again.`, "Show it", () => void drawAnew());
  },
});
void start().then(seen);
