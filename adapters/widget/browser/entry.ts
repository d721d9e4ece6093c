import type { Branding } from "../frames.ts";
import type { ChatState } from "./session/chat-state.ts";
import type { Chat } from "./session/chat.ts";
import { createChat } from "./session/chat.ts";
import { el } from "./ui/dom.ts";
import type { Settings } from "./settings.ts";
import { claimPage, elementName } from "./page-widget.ts";
import { forgetHandedToken, readSettings, userOf } from "./settings.ts";
import { brandingFrom } from "./storage/stored-values.ts";
import { createPaced } from "./ui/paced.ts";
import { stringsFor } from "./ui/strings.ts";
import type { View } from "./ui/view.ts";
import { createView, directionOf } from "./ui/view.ts";

// Starts the widget of the script element that loaded this file. Pages end it by `parley.destroy()`, and control it by
// events on the document (`parley:open`, `parley:close`, `parley:ask` with the text as `detail`, `parley:user` with a newer
// token, `parley:preview` with another appearance), or by elements with `data-parley-open` and `data-parley-ask`.

const brandingTimeoutMs = 1_500;

const script = document.currentScript ?? document.querySelector("script[data-workspace]");
const settingsOfPage = script instanceof HTMLScriptElement ? readSettings(script) : undefined;
if (settingsOfPage !== undefined) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => start(settingsOfPage));
  else start(settingsOfPage);
}

function start(settings: Settings): void {
  const host = el(elementName as "div");
  let view: View | undefined;
  const ended = claimPage(host, settings, () => view?.attached());
  if (ended === undefined) return;
  if (settings.mode === "page") {
    document.documentElement.lang = settings.lang;
    document.documentElement.dir = directionOf(settings.lang);
  }
  let preview: Branding | undefined;
  const state = (): ChatState => (preview === undefined ? chat.state() : { ...chat.state(), branding: preview });
  const chat: Chat = createChat(
    settings,
    ended,
    createPaced(() => view?.render(state()), ended),
  );
  const showPreview = (event: Event): void => {
    if (event instanceof CustomEvent) preview = brandingFrom(event.detail);
    view?.render(state());
  };
  document.addEventListener("parley:preview", showPreview, { signal: ended });
  const shown = stringsFor(settings.lang, settings.strings, settings.base).then((strings) => {
    view = createView(host, settings, strings, { ...chat, state }, ended);
    view.render(state());
    if (settings.mode === "page" || chat.state().branding !== undefined) view.reveal();
    return view;
  });
  listen(settings, shown, chat, ended);
  if (settings.mode === "page" || chat.isUsed()) chat.connect();
  if (settings.mode === "bubble") void showBranding(settings, chat, shown);
}

/** Fetches the branding, so that a page without a conversation needs no connection. */
async function showBranding(settings: Settings, chat: Chat, shown: Promise<View>): Promise<void> {
  const url = new URL(`chat/${encodeURIComponent(settings.workspace)}/face?channel=${settings.channel}`, settings.base);
  try {
    const response = await fetch(url, { credentials: "omit", signal: AbortSignal.timeout(brandingTimeoutMs) });
    if (response.status === 403 || response.status === 404) {
      console.error(`[parley] ${(await response.text()).trim()}`);
      return;
    }
    const branding = response.ok ? brandingFrom(await response.json()) : undefined;
    if (branding !== undefined) chat.setBranding(branding);
  } catch {
    // The server is not reachable. The chat is shown anyway, and stores messages until it can send them.
  }
  (await shown).reveal();
}

/** Listens from the start, until `ended` aborts. Whatever opens the view waits until its texts are loaded. */
function listen(settings: Settings, shown: Promise<View>, chat: Chat, ended: AbortSignal): void {
  const on = (name: string, listener: (event: Event) => void): void =>
    document.addEventListener(name, listener, { signal: ended });
  const open = (): void => void shown.then((view) => view.open());
  const ask = (text: unknown): void => {
    open();
    if (typeof text === "string") chat.submit(text.trim());
  };
  on("parley:expired", () => forgetHandedToken(settings));
  on("parley:user", (event) => {
    const token: unknown = event instanceof CustomEvent ? event.detail : undefined;
    const user = typeof token === "string" ? userOf(token) : undefined;
    if (typeof token !== "string" || user === undefined) return;
    if (user === settings.identity?.user_id) chat.identify({ user_id: user, user_token: token });
    else console.error("[parley] This token is another user's: reload the page with it.");
  });
  on("parley:open", open);
  on("parley:close", () => void shown.then((view) => view.close()));
  on("parley:ask", (event) => {
    if (event instanceof CustomEvent) ask(event.detail);
  });
  on("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const asking = event.target.closest("[data-parley-ask]");
    const opening = event.target.closest("[data-parley-open]");
    if (asking === null && opening === null) return;
    event.preventDefault();
    if (asking === null) open();
    else ask(asking.getAttribute("data-parley-ask"));
  });
}
