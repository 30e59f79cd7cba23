/** Draws the parts that a page marks with `data-live` anew, from the page as the server has it now. */

import { all, drawAges, swap } from "./dom";
import { complain } from "./notices";
import { page } from "./session";

let planned: ReturnType<typeof setTimeout> | undefined;

export async function refresh(): Promise<void> {
  try {
    const fresh = await page(location.pathname + location.search);
    for (const old of all("[data-live]")) {
      const now = fresh.getElementById(old.id);
      if (now && now.outerHTML !== old.outerHTML) swap(old, now);
    }
    drawAges();
  } catch (problem) {
    complain(problem);
  }
}

/** Soon: what comes in many small changes is drawn once. */
export function refreshSoon(within = 500): void {
  planned ??= setTimeout(() => {
    planned = undefined;
    void refresh();
  }, within);
}
