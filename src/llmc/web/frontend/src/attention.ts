/** Who waits, in the title and, for those who want it, as notifications: who, why, and what is asked. */

import { one } from "./dom";
import { tell } from "./notices";
import { type Board, type Card, follow, type Head } from "./stream";

const WANTED = "llmc-notify";
const told = new Map<string, string>();
const title = document.title.replace(/^\(\d+\) /, "");

function count(head: Head): void {
  document.title = head.waiting ? `(${head.waiting}) ${title}` : title;
  const badge = one("#waiting");
  if (badge) {
    badge.textContent = String(head.waiting);
    badge.hidden = !head.waiting;
  }
  const away = one("#no-daemon");
  if (away) away.hidden = head.daemon;
  const paused = one("#train-paused");
  if (paused) paused.hidden = !head.train_paused;
  void navigator.setAppBadge?.(head.waiting).catch(() => {});
}

/** Changes whenever a person would want to hear of it again. */
const reason = (card: Card): string =>
  card.column === "needs_you" || card.column === "review" ? `${card.column} ${card.state} ${card.asked?.id ?? ""}` : "";

function hear(card: Card, aloud: boolean): void {
  const now = reason(card);
  const before = told.get(card.key) ?? "";
  told.set(card.key, now);
  if (!aloud || !now || now === before || !wants() || document.hasFocus()) return;
  const who = card.worker ?? card.task ?? "";
  const what = card.asked ? [card.asked.text, ...card.asked.options].join("\n") : card.does;
  const verb = card.asked ? "asks" : card.column === "review" ? "is ready for review" : "needs you";
  try {
    const shown = new Notification(`${who} ${verb}`, { body: [card.title, what].filter(Boolean).join("\n"), tag: card.key });
    shown.addEventListener("click", () => {
      window.focus();
      if (card.worker) location.assign(`/workers/${card.worker}${card.column === "review" ? "/review" : ""}`);
    });
  } catch {
    // Some phones allow them only to installed pages.
  }
}

const wants = (): boolean =>
  "Notification" in window && Notification.permission === "granted" && localStorage.getItem(WANTED) === "yes";

function drawButton(): void {
  const button = one<HTMLButtonElement>("#notify");
  if (!button) return;
  button.hidden = !("Notification" in window);
  button.setAttribute("aria-pressed", String(wants()));
  button.textContent = wants() ? "Notifications on" : "Notify me";
}

async function toggle(): Promise<void> {
  if (wants()) localStorage.removeItem(WANTED);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(WANTED, "yes");
  else tell("The browser does not allow notifications from this page: allow them in its settings for this address.");
  drawButton();
}

export function beginAttention(): void {
  one("#notify")?.addEventListener("click", () => void toggle());
  drawButton();
  follow({
    board(board: Board) {
      const first = told.size === 0;
      count(board.head);
      for (const card of Object.values(board.cards)) hear(card, !first);
    },
    change(change) {
      if (change.head) count(change.head);
      for (const card of change.cards) hear(card, true);
      for (const key of change.gone) told.delete(key);
    },
  });
}
