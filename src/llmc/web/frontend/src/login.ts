/** The token comes in the address that `llmc web` printed, or is pasted here. */

import { one } from "./dom";
import { Failure, login, tokenInAddress } from "./session";

/** This page stands in for any other that needs a login, under that one's own address. */
function onwards(): void {
  if (location.pathname !== "/login") return location.reload();
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  // As the browser reads it: it leaves out tabs and line breaks, and takes `\` for `/`.
  const there = URL.canParse(next, location.origin) ? new URL(next, location.origin) : null;
  location.replace(there?.origin === location.origin ? there.href : "/");
}

async function enter(token: string): Promise<void> {
  const problem = one("#problem");
  try {
    await login(token);
    onwards();
  } catch (failure) {
    if (!problem) return;
    const known = failure instanceof Failure ? failure : new Failure("the server does not answer", "", 0);
    problem.textContent = [known.message, known.hint].filter(Boolean).join(": ");
  }
}

one<HTMLFormElement>("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = one<HTMLInputElement>("#token")?.value.trim() ?? "";
  void enter(typed.includes("#token=") ? (typed.split("#token=")[1] ?? "") : typed);
});

const token = tokenInAddress();
if (token) void enter(token);
