/** What happened, newest first; the server draws what is there, this adds what comes. */

import { clock, made, one } from "./dom";
import { follow, type Logged } from "./stream";

const MOST = 400;

function row(event: Logged): HTMLElement {
  const at = made("time", "", clock(event.at_unix));
  at.setAttribute("datetime", new Date(event.at_unix * 1000).toISOString());
  const who = made("span", "who", event.worker);
  const item = made("li", "", at, who, made("span", "signal", event.signal || event.kind), made("span", "words", event.words));
  item.dataset["event"] = String(event.id);
  return item;
}

/** `worker` is empty for all of them. */
export function beginTimeline(worker: string): void {
  follow({
    change(change) {
      const list = one("#timeline ol");
      for (const event of change.events) {
        if (!list || (worker && event.worker !== worker) || one(`[data-event="${event.id}"]`, list)) continue;
        list.prepend(row(event));
        if (list.children.length > MOST) list.lastElementChild?.remove();
      }
    },
  });
}
