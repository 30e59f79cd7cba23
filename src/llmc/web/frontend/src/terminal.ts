/** The live terminal. It shows what tmux has drawn; it never changes the size there unless its viewer has control. */

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { all, one } from "./dom";
import { secret, toLogin } from "./session";
import { palette } from "./palette";

const LARGEST_FONT = 14;
const USUAL_FONT = 12;
const SMALLEST_FONT = 9;
const GLYPH = 0.602;
const AGAIN_MS = 1000;

/** xterm.js writes its rules into style elements, which our content policy forbids; a sheet of the document is allowed. */
function styleWithoutElements(): void {
  const make = document.createElement.bind(document);
  const styled = (): HTMLElement => {
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets.push(sheet);
    const element = make("span");
    element.hidden = true;
    Object.defineProperty(element, "textContent", { set: (rules: string) => sheet.replaceSync(rules), get: () => "" });
    return element;
  };
  document.createElement = ((tag: string, options?: ElementCreationOptions) =>
    tag === "style" ? styled() : make(tag, options)) as typeof document.createElement;
}

interface Fact {
  size?: [number, number];
  control?: string | null;
  mine?: boolean;
  dead?: boolean;
  error?: string;
}

class Screen {
  readonly term: Terminal;
  private readonly fit = new FitAddon();
  private socket: WebSocket | null = null;
  private control = false;
  private ctrl = false;
  private dead = false;

  constructor(
    private readonly worker: string,
    private readonly place: HTMLElement,
  ) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.term = new Terminal({
      fontFamily: getComputedStyle(place).fontFamily,
      fontSize: LARGEST_FONT,
      scrollback: 5000,
      disableStdin: true,
      linkHandler: null,
      screenReaderMode: false,
      theme: palette(dark.matches),
    });
    dark.addEventListener("change", () => (this.term.options.theme = palette(dark.matches)));
    // Nothing of the stream may name a title, a link or the clipboard.
    for (const code of [0, 1, 2, 8, 52]) this.term.parser.registerOscHandler(code, () => true);
    this.term.loadAddon(this.fit);
    this.term.open(place);
    this.term.onData((typed) => this.typed(typed));
    place.addEventListener("paste", (event) => this.paste(event), true);
    new ResizeObserver(() => this.scale()).observe(place);
    this.connect();
  }

  connect(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const path = `/api/v1/workers/${encodeURIComponent(this.worker)}/terminal?control=${this.control ? 1 : 0}`;
    const socket = new WebSocket(`${scheme}://${location.host}${path}`);
    socket.binaryType = "arraybuffer";
    this.socket?.close();
    this.socket = socket;
    socket.addEventListener("open", () => socket.send(JSON.stringify({ secret: secret() })));
    socket.addEventListener("message", ({ data }) => {
      if (socket !== this.socket) return;
      if (typeof data === "string") this.fact(JSON.parse(data));
      else this.term.write(new Uint8Array(data), () => this.showEnd());
    });
    socket.addEventListener("close", (event) => {
      if (socket !== this.socket) return;
      if (event.code === 4401) toLogin();
      this.say(this.dead ? "its terminal is closed" : "reconnecting", "away");
      setTimeout(() => socket === this.socket && this.connect(), this.dead ? 5 * AGAIN_MS : AGAIN_MS);
    });
  }

  private fact(fact: Fact): void {
    if (fact.size) {
      this.term.resize(...fact.size);
      if (!this.control) this.scale();
      this.say(`${fact.size[0]} × ${fact.size[1]}`, "live");
    }
    if (fact.dead !== undefined) this.dead = fact.dead;
    if (fact.dead) {
      this.say("its terminal is closed", "away");
    }
    if (fact.control !== undefined) this.controlled(fact.control, fact.mine ?? false);
    if (fact.error) this.say(fact.error, "away");
  }

  private say(words: string, state: string): void {
    const place = one("#terminal-state");
    if (!place) return;
    place.textContent = words;
    place.dataset["state"] = state;
  }

  /** Everybody sees who types. */
  private controlled(who: string | null, mine: boolean): void {
    const place = one("#controller");
    if (place) place.textContent = mine ? "you have control" : who ? `${who} has control` : "";
    if (mine === this.control) return;
    this.control = mine;
    this.term.options.disableStdin = !mine;
    this.term.options.cursorBlink = mine;
    document.body.classList.toggle("in-control", mine);
    for (const button of all<HTMLButtonElement>("#terminal-tools [data-key], [data-needs-control]")) button.disabled = !mine;
    const button = one("#control");
    button?.setAttribute("aria-pressed", String(mine));
    if (button) button.textContent = mine ? "Give back control" : "Take control";
    this.scale();
    if (mine) this.term.focus();
  }

  /** Who looks changes nothing for the others: the letters get smaller as far as they stay legible, then one scrolls. */
  private scale(): void {
    if (this.control) return this.fitHere();
    const size = Math.floor(((this.place.clientWidth - 24) / this.term.cols / GLYPH) * 4) / 4;
    const font = size < SMALLEST_FONT ? USUAL_FONT : Math.min(LARGEST_FONT, size);
    if (this.term.options.fontSize !== font) this.term.options.fontSize = font;
    this.showEnd();
  }

  /** Where something happens is in view: a terminal may be higher than its place on the page. */
  private showEnd(): void {
    const buffer = this.term.buffer.active;
    let last = this.term.rows - 1;
    while (last > buffer.cursorY && !buffer.getLine(buffer.baseY + last)?.translateToString(true)) last--;
    const row = (one(".xterm-screen", this.place)?.clientHeight ?? 0) / this.term.rows;
    this.place.scrollTop = (last + 1) * row + 16 - this.place.clientHeight;
  }

  // --- with control ---------------------------------------------------------

  take(wanted: boolean): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ control: wanted }));
  }

  get inControl(): boolean {
    return this.control;
  }

  private send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.control && this.socket?.readyState === WebSocket.OPEN) this.socket.send(message);
  }

  private typed(text: string): void {
    let bytes = new TextEncoder().encode(text);
    const code = text.length === 1 ? text.toUpperCase().charCodeAt(0) : 0;
    if (this.ctrl && code >= 64 && code < 96) bytes = new Uint8Array([code - 64]);
    this.holdCtrl(false);
    this.send(bytes);
  }

  private paste(event: ClipboardEvent): void {
    event.preventDefault();
    event.stopPropagation();
    this.pasteText(event.clipboardData?.getData("text/plain") ?? "");
  }

  pasteText(text: string): void {
    if (text) this.send(JSON.stringify({ paste: text }));
  }

  key(name: string): void {
    if (name === "Ctrl") this.holdCtrl(!this.ctrl);
    else this.send(JSON.stringify({ key: name }));
    this.term.focus();
  }

  /** For the next key. */
  private holdCtrl(held: boolean): void {
    this.ctrl = held;
    one("[data-key='Ctrl']")?.setAttribute("aria-pressed", String(held));
  }

  /** Only with control: it changes the size for everybody, until control is given back. */
  private fitHere(): void {
    this.term.options.fontSize = USUAL_FONT;
    const size = this.fit.proposeDimensions();
    if (!size || (size.cols === this.term.cols && size.rows === this.term.rows)) return;
    this.send(JSON.stringify({ size: [Math.max(20, size.cols), Math.max(5, size.rows)] }));
  }
}

export function openTerminal(worker: string): void {
  const place = one("#terminal");
  if (!place) return;
  styleWithoutElements();
  const screen = new Screen(worker, place);
  one("#control")?.addEventListener("click", () => screen.take(!screen.inControl));
  for (const button of all("#terminal-tools [data-key]")) {
    button.addEventListener("click", () => screen.key(button.dataset["key"] ?? ""));
  }
  one("#paste")?.addEventListener("click", () => {
    void navigator.clipboard?.readText().then((text) => screen.pasteText(text));
  });
}
