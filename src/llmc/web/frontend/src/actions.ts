/** Buttons and forms that do something: each names its path and its body, the server runs the command. */

import { all } from "./dom";
import { complain, leaveFor, receipt, tell } from "./notices";
import { type Json, post } from "./session";

type After = (said: Json, from: HTMLElement) => void;
let after: After = () => {};
let failed: After = () => {};

/** What the page does when something was done: draw itself anew, say. */
export function whenDone(act: After): void {
  after = act;
}

/** What it does when a form that was cleared at once was refused: nothing that was typed is lost. */
export function whenRefused(act: After): void {
  failed = act;
}

let ready: Promise<unknown> = Promise.resolve();

/** What must be done before anything else is: each action waits for it. */
export function actAfter(promise: Promise<unknown>): void {
  ready = promise;
}

const NUMBERS = new Set(["priority", "line", "end_line", "number"]);

function bodyOf(form: HTMLFormElement): Json {
  const body: Json = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== "string" || value === "") continue;
    if (name === "after") body[name] = value.split(/[\s,]+/).filter(Boolean);
    else body[name] = NUMBERS.has(name) ? Number(value) : value;
  }
  return body;
}

async function act(from: HTMLElement, button: HTMLButtonElement | null, path: string, body: Json): Promise<void> {
  const atOnce = from.dataset["then"] === "next" && from instanceof HTMLFormElement;
  if (atOnce) from.reset();
  else if (button?.getAttribute("aria-disabled") === "true") return;
  else {
    // Not `disabled`: the focus stays where it is.
    button?.setAttribute("aria-disabled", "true");
    button?.setAttribute("aria-busy", "true");
  }
  try {
    await ready;
    const said = await post(path, body);
    const words = receipt(from.dataset["label"] ?? button?.textContent?.trim() ?? "done", said);
    if (from.dataset["then"] === "board") return leaveFor("/", words);
    tell(words);
    if (from instanceof HTMLFormElement && !atOnce) {
      from.reset();
      from.closest("details")?.removeAttribute("open");
      from.closest("dialog")?.close();
    }
    after(said, from);
  } catch (problem) {
    complain(problem);
    if (atOnce) failed(body, from);
  } finally {
    button?.removeAttribute("aria-disabled");
    button?.removeAttribute("aria-busy");
  }
}

export function beginActions(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-post]");
    if (!button) return;
    const question = button.dataset["confirm"];
    if (question && !confirm(question)) return;
    void act(button, button, button.dataset["post"] ?? "", JSON.parse(button.dataset["body"] ?? "{}"));
  });
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.dataset["post"]) return;
    event.preventDefault();
    const button = (event.submitter ?? form.querySelector("button")) as HTMLButtonElement | null;
    void act(form, button, form.dataset["post"], bodyOf(form));
  });
  // Enter sends from a line; Ctrl+Enter from a text of several lines.
  document.addEventListener("keydown", (event) => {
    const field = event.target as HTMLElement;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field instanceof HTMLTextAreaElement) {
      field.form?.requestSubmit();
      event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => {
    const opener = (event.target as Element).closest<HTMLElement>("[data-open]");
    if (opener) openDialog(opener.dataset["open"] ?? "", opener.dataset["fill"]);
    const closer = (event.target as Element).closest<HTMLElement>("[data-close]");
    closer?.closest("dialog")?.close();
  });
}

/** `fill` is `field=value`. */
export function openDialog(id: string, fill = ""): void {
  const dialog = document.getElementById(id) as HTMLDialogElement | null;
  if (!dialog) return;
  const [field = "", value = ""] = fill.split("=");
  for (const each of all<HTMLInputElement>("input, select", dialog)) if (each.name === field) each.value = value;
  dialog.showModal();
}
