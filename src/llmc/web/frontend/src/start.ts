/** What every page begins with. */

import { beginActions } from "./actions";
import { beginAttention } from "./attention";
import { drawAges, one } from "./dom";
import { complain, tellKept } from "./notices";
import { begin } from "./session";
import { beginStream } from "./stream";

export async function start(): Promise<void> {
  beginActions();
  one("main")?.removeAttribute("inert"); // a click before now would have been lost
  tellKept();
  beginAttention();
  drawAges();
  setInterval(drawAges, 1000);
  try {
    await begin();
  } catch (problem) {
    complain(problem);
  }
  beginStream();
}
