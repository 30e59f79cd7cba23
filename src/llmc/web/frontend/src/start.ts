/** What every page begins with. */

import { beginActions } from "./actions";
import { beginAttention } from "./attention";
import { drawAges } from "./dom";
import { complain } from "./notices";
import { begin } from "./session";
import { beginStream } from "./stream";

export async function start(): Promise<void> {
  beginActions();
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
