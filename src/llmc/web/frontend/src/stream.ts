/** The board as it changes. The browser comes back by itself and says where it was; the server tells what it missed. */

import { one } from "./dom";
import { toLogin } from "./session";

export interface Asked {
  id: string | null;
  text: string;
  options: string[];
}

export interface Card {
  key: string;
  column: string;
  title: string;
  worker: string | null;
  task: string | null;
  state: string;
  does: string;
  asked: Asked | null;
}

export interface Column {
  name: string;
  keys: string[];
}

export interface Head {
  waiting: number;
  daemon: boolean;
  train_paused: boolean;
}

export interface Logged {
  id: number;
  at_unix: number;
  worker: string;
  kind: string;
  signal: string;
  work_before: string;
  work_after: string;
  session_before: string;
  session_after: string;
  detail: string;
  words: string;
}

export interface Board {
  head: Head;
  columns: Column[];
  cards: Record<string, Card>;
}

export interface Change {
  head: Head | null;
  columns: Column[];
  cards: Card[];
  gone: string[];
  events: Logged[];
}

export interface Follower {
  board?(board: Board, id: string): void;
  change?(change: Change, id: string): void;
}

const AGAIN_MS = 2000;
const followers: Follower[] = [];

export function follow(follower: Follower): void {
  followers.push(follower);
}

function mark(state: "live" | "away", words: string): void {
  const lamp = one("#live");
  if (!lamp || lamp.dataset["state"] === state) return;
  lamp.dataset["state"] = state;
  lamp.textContent = words;
}

export function beginStream(): void {
  const source = new EventSource("/api/v1/stream");
  source.addEventListener("open", () => mark("live", "live"));
  source.addEventListener("board", (event) => {
    const board = JSON.parse(event.data) as Board;
    for (const each of followers) each.board?.(board, event.lastEventId);
  });
  source.addEventListener("change", (event) => {
    const change = JSON.parse(event.data) as Change;
    for (const each of followers) each.change?.(change, event.lastEventId);
  });
  source.addEventListener("error", () => {
    mark("away", "reconnecting");
    // A browser gives up where it was answered with an error.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => void comeBack(), AGAIN_MS);
  });
  addEventListener("pagehide", () => source.close());
}

async function comeBack(): Promise<void> {
  const status = await fetch("/api/v1/status", { method: "GET" }).then((answer) => answer.status, () => 0);
  if (status === 401) toLogin();
  else beginStream();
}
