import type { Chat } from "./chat.ts";
import { createChat } from "./chat.ts";
import { el } from "./ui/dom.ts";
import { faceOf } from "./kept.ts";
import type { Settings } from "./settings.ts";
import { forgetHandedToken, readSettings, userOf } from "./settings.ts";
import { stringsFor } from "./ui/strings.ts";
import type { View } from "./ui/view.ts";
import { createView, directionOf } from "./ui/view.ts";

/**
 * Starts the widget of the script element that loaded this file. Nothing is put on `window`: pages speak to it through
 * events on the document (`parley:open`, `parley:close`, `parley:ask` with the text as `detail`, `parley:user` with a newer token) or by elements with
 * `data-parley-open` and `data-parley-ask`.
 */
const faceTimeoutMs = 1_500;

const script = document.currentScript ?? document.querySelector("script[data-workspace]");
const found = script instanceof HTMLScriptElement ? readSettings(script) : undefined;
if (found !== undefined) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => start(found));
  else start(found);
}

function start(settings: Settings): void {
  // Twice in a page is once: tag managers do that. The element is there before the texts, so that a second start sees it.
  if (document.querySelector("parley-chat") !== null) return;
  const host = el("parley-chat" as "div");
  document.body.append(host);
  if (settings.mode === "page") {
    document.documentElement.lang = settings.lang;
    document.documentElement.dir = directionOf(settings.lang);
  }
  let view: View | undefined;
  const chat: Chat = createChat(settings, () => view?.render(chat.state()));
  const shown = stringsFor(settings.lang, settings.strings, settings.base).then((strings) => {
    view = createView(host, settings, strings, chat);
    view.render(chat.state());
    if (settings.mode === "page" || chat.state().face !== undefined) view.reveal();
    return view;
  });
  listen(settings, shown, chat);
  if (settings.mode === "page" || chat.known()) chat.connect();
  if (settings.mode === "bubble") void showFace(settings, chat, shown);
}

/** Asks for the name and colour of the chat, so that a page without a conversation needs no connection. */
async function showFace(settings: Settings, chat: Chat, shown: Promise<View>): Promise<void> {
  const url = new URL(`chat/${encodeURIComponent(settings.workspace)}/face?channel=${settings.channel}`, settings.base);
  try {
    const response = await fetch(url, { credentials: "omit", signal: AbortSignal.timeout(faceTimeoutMs) });
    if (response.status === 403 || response.status === 404) {
      console.error(`[parley] ${(await response.text()).trim()}`);
      return;
    }
    const face = response.ok ? faceOf(await response.json()) : undefined;
    if (face !== undefined) chat.introduce(face);
  } catch {
    // Not reachable at the moment: the chat shows itself all the same, and keeps what is written until it is.
  }
  (await shown).reveal();
}

/** From the start on; where the view has to wait for its texts, so does what opens it. */
function listen(settings: Settings, shown: Promise<View>, chat: Chat): void {
  document.addEventListener("parley:expired", () => forgetHandedToken(settings));
  document.addEventListener("parley:user", (event) => {
    const token: unknown = event instanceof CustomEvent ? event.detail : undefined;
    const user = typeof token === "string" ? userOf(token) : undefined;
    if (typeof token !== "string" || user === undefined) return;
    if (user === settings.identity?.user_id) chat.identify({ user_id: user, user_token: token });
    else console.error("[parley] This token is another user's: reload the page with it.");
  });
  const open = (): void => void shown.then((view) => view.open());
  const ask = (text: unknown): void => {
    open();
    if (typeof text === "string") chat.submit(text.trim());
  };
  document.addEventListener("parley:open", open);
  document.addEventListener("parley:close", () => void shown.then((view) => view.close()));
  document.addEventListener("parley:ask", (event) => {
    if (event instanceof CustomEvent) ask(event.detail);
  });
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const asking = event.target.closest("[data-parley-ask]");
    const opening = event.target.closest("[data-parley-open]");
    if (asking === null && opening === null) return;
    event.preventDefault();
    if (asking === null) open();
    else ask(asking.getAttribute("data-parley-ask"));
  });
}
