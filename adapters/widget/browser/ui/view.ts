import type { Chat } from "../session/chat.ts";
import type { ChatState } from "../session/chat-state.ts";
import type { Settings } from "../settings.ts";
import { createBrowserStorage } from "../storage/browser-storage.ts";
import type { AnsweredMessage } from "../storage/stored-values.ts";
import { createComposer } from "./composer.ts";
import { button, el, icon } from "./dom.ts";
import { keepFocus, rememberFocus, trapTab } from "./focus.ts";
import { createHeader, setText } from "./header.ts";
import { createLauncher } from "./launcher.ts";
import { createLeadForm } from "./lead-form.ts";
import { createMessageLog } from "./messages/log.ts";
import { createPhoneLayout } from "./phone.ts";
import type { Strings } from "./strings.ts";
import { isRightToLeft } from "./strings.ts";
import { createTheme } from "./theme.ts";
import { attachShadow } from "./shadow.ts";

export interface View {
  render(state: ChatState): void;
  open(): void;
  close(): void;
  /** Restores scroll position and focus. Called when the element is in the page again. */
  attached(): void;
  /** Shows the launcher. Called when the workspace's colour is known. */
  reveal(): void;
}

/** Draws the chat into a shadow tree of `host`, which the page's styles do not reach. Listens until `ended` aborts. */
export function createView(
  host: HTMLElement,
  settings: Settings,
  strings: Strings,
  chat: Chat,
  ended: AbortSignal,
): View {
  const { workspace, channel, identity, lang } = settings;
  const isPage = settings.mode === "page";
  const tab = createBrowserStorage(`parley:${workspace}:${channel}:${identity?.user_id ?? ""}:`, "sessionStorage");
  const pageTitle = document.title;
  let drawn: ChatState["messages"] | undefined;
  let isOpen = isPage;

  const root = el("div", {
    class: `root ${isPage ? "page" : "bubble-mode"} ${settings.side}`,
    lang,
    dir: directionOf(lang),
  });
  const theme = createTheme(root, settings.theme, ended);
  const retry = (key: string): void => {
    const text = chat.retry(key);
    if (text !== undefined) composer.attachAgain(text);
  };
  const choose = (text: string): void => {
    if (chat.submit(text, { chosen: true })) log.toEnd();
  };
  const answer = (message: AnsweredMessage): void => composer.answer(message);
  const actions = { retry, judge: chat.judge, rate: chat.rate, react: chat.react, choose, answer };
  const log = createMessageLog(strings, lang, actions, chat.loadOlder);
  const lead = createLeadForm(strings, chat);
  const composer = createComposer(strings, chat, tab, log.toEnd);
  const header = createHeader(strings, isPage ? undefined : () => show(false));
  const launcher = createLauncher(strings, () => show(!isOpen));
  const banner = el("p", { class: "banner", role: "status" });
  const toNewest = (): void => {
    log.toEnd();
    markSeen();
    composer.focus();
  };
  const newer = button({ class: "newer", hidden: "" }, toNewest, strings.newMessages, icon("down"));
  const panel = el(
    isPage ? "main" : "section",
    { class: "panel", "aria-labelledby": "title", ...(isPage ? {} : { role: "dialog", hidden: "" }) },
    header.element,
    el("div", { class: "middle" }, log.element, newer),
    lead.element,
    banner,
    composer.element,
  );
  composer.dropsOn(panel);
  root.append(panel, ...(isPage ? [] : [launcher.element]));
  const shadow = attachShadow(host, root);
  const restoreFocus = rememberFocus(host, shadow);
  const phone = createPhoneLayout(root, panel, ended, () => isOpen && !isPage);

  const show = (open: boolean, moveFocus = true): void => {
    if (isPage || open === isOpen) return;
    isOpen = open;
    tab.write("open", open ? true : undefined);
    panel.hidden = !open;
    root.classList.toggle("open", open);
    launcher.render(open, 0);
    phone.fit();
    if (open) {
      chat.connect();
      render(chat.state());
      log.toUnread(chat.state());
      if (moveFocus) composer.focus();
    } else if (moveFocus) launcher.element.focus();
  };

  log.element.addEventListener("scroll", () => {
    change(() => offerNewer(chat.state()));
    markSeen();
  });
  panel.addEventListener("keydown", (event) => {
    // Keys typed in the chat must not trigger the page's shortcuts.
    event.stopPropagation();
    if (isPage) return;
    if (event.key === "Escape" && !event.isComposing) show(false);
    else if (event.key === "Tab" && phone.isPhone()) trapTab(event, shadow, panel);
  });
  const markSeen = (): void => {
    const { messages, replaying } = chat.state();
    const isDrawn = isOpen && !replaying && drawn === messages;
    if (isDrawn && document.visibilityState === "visible" && log.atEnd()) chat.markSeen();
  };

  document.addEventListener("visibilitychange", markSeen, { signal: ended });
  addEventListener("focus", markSeen, { signal: ended });

  const change = (draw: () => void): void =>
    keepFocus(shadow, panel, draw, () => {
      if (isOpen) composer.focus();
    });

  const offerNewer = ({ unread }: ChatState): void => {
    newer.hidden = log.atEnd() || unread === 0;
  };

  const draw = (state: ChatState): void => {
    const { branding, connection, status, unread } = state;
    header.render(branding?.title ?? "", status);
    root.dataset["handledBy"] = status.handledBy;
    theme.setColor(settings.color ?? branding?.color);
    root.dataset["connection"] = connection;
    setText(banner, problemText(connection, strings));
    lead.render(state);
    composer.render(state);
    if (isOpen) {
      log.render(state);
      drawn = state.messages;
      offerNewer(state);
      queueMicrotask(markSeen);
    }
    launcher.render(isOpen, unread);
    // A bubble is on the company's page, whose title stays as it is.
    if (isPage) document.title = unread === 0 ? pageTitle : `(${unread > 99 ? "99+" : unread}) ${pageTitle}`;
  };

  const render = (state: ChatState): void => change(() => draw(state));

  return {
    render,
    open: () => show(true),
    close: () => show(false),
    attached() {
      log.restore();
      restoreFocus();
    },
    reveal() {
      if (isPage) return composer.focus();
      if (!launcher.element.hidden) return;
      launcher.element.hidden = false;
      // The chat was open on the previous page. The new page keeps the focus, and on a phone it keeps the screen.
      if (tab.read("open") === true && !phone.isPhone()) show(true, false);
    },
  };
}

function problemText(connection: ChatState["connection"], strings: Strings): string {
  if (connection === "reconnecting") return strings.connecting;
  return connection === "idle" || connection === "connecting" || connection === "online" ? "" : strings[connection];
}

export function directionOf(lang: string): "ltr" | "rtl" {
  return isRightToLeft(lang) ? "rtl" : "ltr";
}
