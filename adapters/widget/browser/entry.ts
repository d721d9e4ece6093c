import type { Chat } from "./chat.ts";
import { createChat } from "./chat.ts";
import { faceOf } from "./kept.ts";
import type { Settings } from "./settings.ts";
import { readSettings } from "./settings.ts";
import { stringsFor } from "./strings.ts";
import type { View } from "./view.ts";
import { createView } from "./view.ts";

/**
 * Starts the widget of the script element that loaded this file. Nothing is put on `window`: pages speak to it through
 * events on the document (`parley:open`, `parley:close`, `parley:ask` with the text as `detail`) or by elements with
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
  // Twice in a page is once: tag managers do that.
  if (document.querySelector("parley-chat") !== null) return;
  // Nothing changes before it is connected, and by then the view is there.
  const chat: Chat = createChat(settings, () => view.render(chat.state()));
  const view = createView(settings, stringsFor(settings.lang, settings.strings), chat);
  view.render(chat.state());
  listen(view, chat);
  if (settings.mode === "page" || chat.known()) chat.connect();
  if (settings.mode === "page" || chat.state().face !== undefined) view.reveal();
  if (settings.mode === "bubble") void showFace(settings, chat, view);
}

/** Asks for the name and colour of the chat, so that a page without a conversation needs no connection. */
async function showFace(settings: Settings, chat: Chat, view: View): Promise<void> {
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
  view.reveal();
}

function listen(view: View, chat: Chat): void {
  const ask = (text: unknown): void => {
    view.open();
    if (typeof text === "string") chat.submit(text.trim());
  };
  document.addEventListener("parley:open", () => view.open());
  document.addEventListener("parley:close", () => view.close());
  document.addEventListener("parley:ask", (event) => {
    if (event instanceof CustomEvent) ask(event.detail);
  });
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const asking = event.target.closest("[data-parley-ask]");
    const opening = event.target.closest("[data-parley-open]");
    if (asking === null && opening === null) return;
    event.preventDefault();
    if (asking === null) view.open();
    else ask(asking.getAttribute("data-parley-ask"));
  });
}
