/** The board: the server draws the cards, this puts those that changed in their places. */

import { whenDone } from "./actions";
import { all, drawAges, isTyping, one, swap } from "./dom";
import { complain } from "./notices";
import { page } from "./session";
import { start } from "./start";
import { type Change, type Column, follow } from "./stream";

const board = one("#board");
let shown = board?.dataset["id"] ?? "";
let turn: Promise<void> = Promise.resolve();

const cardOf = (key: string): HTMLElement | null => document.getElementById(`card-${key}`);

/** One after the other, in the order in which they were told. */
function next(act: () => Promise<void>): void {
  turn = turn.then(act).catch(complain);
}

async function drawAll(): Promise<void> {
  const fresh = (await page("/board/columns")).getElementById("columns");
  const old = one("#columns");
  if (fresh && old) swap(old, fresh);
  sift();
  drawAges();
}

async function draw(change: Change): Promise<void> {
  if (change.cards.length) {
    const query = new URLSearchParams(change.cards.map((card) => ["key", card.key]));
    const fresh = await page(`/board/cards?${query}`);
    for (const card of all("[data-key]", fresh)) place(card, change);
  }
  for (const key of change.gone) cardOf(key)?.remove();
  for (const column of change.columns) order(column);
  sift();
  drawAges();
}

function place(card: HTMLElement, change: Change): void {
  const old = cardOf(card.dataset["key"] ?? "");
  if (old) swap(old, card);
  else {
    const column = change.cards.find((each) => each.key === card.dataset["key"])?.column;
    one(`#column-${column} .cards`)?.append(card);
  }
}

function order(column: Column): void {
  const list = one(`#column-${column.name} .cards`);
  if (!list) return;
  const at = document.activeElement;
  column.keys.forEach((key, n) => {
    const card = cardOf(key);
    if (card && list.children[n] !== card) list.insertBefore(card, list.children[n] ?? null);
  });
  if (at instanceof HTMLElement && at !== document.activeElement && at.isConnected) at.focus({ preventScroll: true });
}

// --- what to see of it ------------------------------------------------------

const search = one<HTMLInputElement>("#search");
const onlyWaiting = one<HTMLInputElement>("#only-waiting");

/** Hides what is not looked for, and says how many there are in each column. */
function sift(): void {
  const words = (search?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  for (const column of all(".column")) {
    const waits = column.dataset["waits"] === "yes";
    const cards = all(".card", column);
    let seen = 0;
    for (const card of cards) {
      const text = card.textContent?.toLowerCase() ?? "";
      card.hidden = !words.every((word) => text.includes(word));
      seen += card.hidden ? 0 : 1;
    }
    column.hidden = Boolean(onlyWaiting?.checked) && !waits;
    column.classList.toggle("empty", seen === 0);
    const count = one(".count", column);
    if (count) count.textContent = String(seen);
  }
  const none = one("#nobody");
  if (none) none.hidden = all(".column:not([hidden]):not(.empty)").length > 0;
}

/** Arrows or hjkl between cards, as in a list. */
function move(event: KeyboardEvent): void {
  if (event.key === "/" && !isTyping()) {
    search?.focus();
    event.preventDefault();
    return;
  }
  if (isTyping() || event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (event.key === "n") {
    one<HTMLButtonElement>("[data-open='new-task']")?.click();
    event.preventDefault(); // else the letter is the first one of the task
    return;
  }
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (!step || (document.activeElement?.matches("button, summary, a") && event.key.startsWith("Arrow"))) return;
  const cards = all(".column:not([hidden]) .card:not([hidden])");
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const to = cards[at < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, at + step))];
  to?.focus();
  event.preventDefault();
}

search?.addEventListener("input", sift);
onlyWaiting?.addEventListener("change", sift);
document.addEventListener("keydown", move);
whenDone(() => {});
sift();

follow({
  board(_, id) {
    if (id !== shown) next(drawAll);
    shown = id;
  },
  change(change, id) {
    shown = id;
    next(() => draw(change));
  },
});
void start();
