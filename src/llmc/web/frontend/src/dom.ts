/** Small ways to the document. Texts only ever become text nodes. */

export function one<T extends Element = HTMLElement>(selector: string, within: ParentNode = document): T | null {
  return within.querySelector<T>(selector);
}

export function all<T extends Element = HTMLElement>(selector: string, within: ParentNode = document): T[] {
  return [...within.querySelectorAll<T>(selector)];
}

export function made(tag: string, kind: string, ...inside: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside);
  return element;
}

export function isTyping(): boolean {
  const at = document.activeElement;
  return at instanceof HTMLElement && at.matches("input, textarea, select, .xterm *");
}

/** Puts the fresh one in place of the old one and keeps what a person is at: what is open, typed and focused. */
export function swap(old: Element, fresh: Element): void {
  const path = (at: Element): string => at.id || at.getAttribute("data-keep") || at.getAttribute("name") || "";
  const find = (name: string): HTMLElement | null =>
    [...fresh.querySelectorAll<HTMLElement>("[id], [data-keep], [name]")].find((each) => path(each) === name) ?? null;
  for (const open of all<HTMLDetailsElement>("details[open]", old)) find(path(open))?.setAttribute("open", "");
  for (const field of all<HTMLInputElement>("input, textarea, select", old)) {
    const same = find(path(field)) as HTMLInputElement | null;
    if (same && field.type !== "hidden" && field.value) same.value = field.value;
  }
  const focused = old.contains(document.activeElement) ? path(document.activeElement as Element) : "";
  old.replaceWith(fresh);
  if (focused) find(focused)?.focus({ preventScroll: true });
}

const UNITS: [number, string][] = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];

export function age(secs: number): string {
  const [unit, letter] = UNITS.find(([size]) => secs >= size) ?? [1, "s"];
  return `${Math.max(0, Math.floor(secs / unit))}${letter}`;
}

/** How long ago, beside what the server drew once. */
export function drawAges(): void {
  for (const time of all("time[data-since]")) {
    const words = age(Date.now() / 1000 - Number(time.dataset["since"]));
    if (time.textContent !== words) time.textContent = words;
  }
}

export function clock(unix: number): string {
  return new Date(unix * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}
