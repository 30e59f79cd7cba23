/** What came of an action: the receipt, or the error with its hint. Told to screen readers, too. */

import { made, one } from "./dom";
import { Failure, type Json } from "./session";

const SECONDS = 12;

function show(kind: string, what: string, hint = ""): HTMLElement {
  const close = made("button", "close", "×") as HTMLButtonElement;
  close.type = "button";
  close.setAttribute("aria-label", "Dismiss");
  const notice = made("div", `notice ${kind}`, made("p", "what", what));
  if (hint) notice.append(made("p", "hint", hint));
  notice.append(close);
  close.addEventListener("click", () => notice.remove());
  one("#notices")?.append(notice);
  if (kind !== "bad") setTimeout(() => notice.remove(), SECONDS * 1000);
  return notice;
}

export function tell(what: string): void {
  show("good", what);
}

const KEPT = "llmc-notice";

/** Leaves for another page, which shows this notice: here nobody would have the time to read it. */
export function leaveFor(path: string, what: string): void {
  sessionStorage.setItem(KEPT, what);
  location.assign(path);
}

/** What the page before this one had to say. */
export function tellKept(): void {
  const what = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (what) tell(what);
}

export function complain(problem: unknown): void {
  const known = problem instanceof Failure ? problem : new Failure(String(problem), "", 0);
  show("bad", known.message, known.hint);
}

export function offer(what: string, label: string, act: () => void): void {
  const button = made("button", "button", label) as HTMLButtonElement;
  button.type = "button";
  const notice = show("offer", what);
  notice.classList.remove("good");
  notice.append(button);
  button.addEventListener("click", () => {
    notice.remove();
    act();
  });
}

/** A command's own document, in words. */
export function receipt(label: string, said: Json): string {
  const facts: string[] = [];
  if (typeof said["outcome"] === "string") facts.push(said["outcome"]);
  if (typeof said["proof"] === "string" && said["proof"] !== "none") facts.push(`proof: ${said["proof"]}`);
  if (typeof said["id"] === "string") facts.push(said["id"]);
  if (typeof said["open"] === "number") facts.push(`${said["open"]} not sent yet`);
  return facts.length ? `${label}: ${facts.join(", ")}` : `${label}: done`;
}
