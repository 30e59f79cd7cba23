/** Tasks, train, usage, events, doctor: drawn by the server, and drawn anew when something changes. */

import { whenDone } from "./actions";
import { one } from "./dom";
import { refresh, refreshSoon } from "./refresh";
import { start } from "./start";
import { follow } from "./stream";
import { beginTimeline } from "./timeline";

const about = one("main")?.dataset["about"] ?? "";

whenDone(() => void refresh());
if (about === "events") beginTimeline("");
if (about === "tasks" || about === "train") follow({ board: () => refreshSoon(), change: () => refreshSoon() });
void start();
