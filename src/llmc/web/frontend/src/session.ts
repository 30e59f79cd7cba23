/** Who we are: the cookie lets this browser look, the secret of this tab lets it act. Nothing else on the machine has it. */

const KEY = "llmc-secret";
const tabs = new BroadcastChannel("llmc-secret");

export const secret = (): string => sessionStorage.getItem(KEY) ?? "";

/** Another tab of this very origin may ask for it; a page on another port is another origin. */
tabs.addEventListener("message", ({ data }) => {
  if (data === "ask" && secret()) tabs.postMessage({ secret: secret() });
  if (typeof data?.secret === "string" && !secret()) sessionStorage.setItem(KEY, data.secret);
});

export async function login(token: string): Promise<void> {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Failure(said.error ?? "the token was not accepted", said.hint ?? "", answer.status);
  sessionStorage.setItem(KEY, said.secret);
}

/** The token stands in the fragment, which no server sees; it does not stay in the address. */
export function tokenInAddress(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  if (token) history.replaceState(null, "", location.pathname + location.search);
  return token;
}

export async function begin(): Promise<void> {
  const token = tokenInAddress();
  if (token) await login(token);
  else if (!secret()) tabs.postMessage("ask");
}

/** What happened, and what to do now. */
export class Failure extends Error {
  constructor(
    what: string,
    readonly hint: string,
    readonly status: number,
  ) {
    super(what);
  }
}

export function toLogin(): void {
  const here = location.pathname + location.search;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}

export type Json = Record<string, unknown>;

export async function post(path: string, body: Json): Promise<Json> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-LLMC-Secret": secret() },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Failure("the server does not answer", "`llmc web` starts it again; nothing was changed by this page", 0);
  }
  const said = ((await answer.json().catch(() => null)) ?? {}) as Json;
  if (answer.status === 401) toLogin();
  if (!answer.ok) {
    const what = String(said["error"] ?? `the server answered ${answer.status}`);
    throw new Failure(what, String(said["hint"] ?? ""), answer.status);
  }
  return said;
}

/** A page of ours, or a part of one, as it is now. Templates escape whatever an agent wrote. */
export async function page(path: string): Promise<Document> {
  const answer = await fetch(path, { headers: { Accept: "text/html" } });
  if (answer.status === 401 || answer.redirected) toLogin();
  if (!answer.ok) throw new Failure(`the server answered ${answer.status}`, "", answer.status);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}
