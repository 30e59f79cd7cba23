/** One worker: its card, its timeline, why it is where it is, and its terminal. */

import { all, drawAges, one, swap } from "./dom";
import { complain } from "./notices";
import { page } from "./session";
import { start } from "./start";
import { follow } from "./stream";
import { openTerminal } from "./terminal";
import { beginTimeline } from "./timeline";

const worker = one("main")?.dataset["worker"] ?? "";

async function drawCard(): Promise<void> {
  const fresh = await page(`/board/cards?key=${encodeURIComponent(`worker/${worker}`)}&whole=1`);
  const card = one("[data-key]", fresh);
  const old = one("main [data-key]");
  if (card && old) swap(old, card);
  drawAges();
}

/** Only when somebody wants to know: it asks git, tmux and the agent. */
async function explain(): Promise<void> {
  const place = one("#explained");
  const fresh = (await page(`/workers/${encodeURIComponent(worker)}/explained`)).getElementById("explained");
  if (place && fresh) swap(place, fresh);
}

const details = one<HTMLDetailsElement>("#explain");
details?.addEventListener("toggle", () => void (details.open && explain().catch(complain)));
if (location.hash === "#explain" && details) details.open = true;
for (const link of all<HTMLAnchorElement>("a[href$='#explain']")) {
  link.addEventListener("click", () => details && (details.open = true));
}

beginTimeline(worker);
follow({
  board: () => void drawCard().catch(complain),
  change(change) {
    if (change.cards.some((card) => card.worker === worker)) void drawCard().catch(complain);
  },
});
void start().then(() => openTerminal(worker));
