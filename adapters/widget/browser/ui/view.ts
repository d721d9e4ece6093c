import type { Chat, ChatState } from "../chat.ts";
import { createComposer } from "./composer.ts";
import { el, icon } from "./dom.ts";
import { createLeadForm } from "./lead-form.ts";
import { avatar, createMessageLog } from "./messages.ts";
import type { Settings } from "../settings.ts";
import { createKeep } from "../storage.ts";
import type { Strings } from "./strings.ts";
import { fill, isRightToLeft } from "./strings.ts";
import style from "../style.css";
import { createTheme } from "./theme.ts";

export interface View {
  render(state: ChatState): void;
  open(): void;
  close(): void;
  /** The launcher is not shown before the colour of the workspace is known. */
  reveal(): void;
}

const phone = "(max-width: 480px), (max-height: 420px)";

/** Everything that is seen, in a shadow tree of `host` that the page's own styles do not reach. */
export function createView(host: HTMLElement, settings: Settings, strings: Strings, chat: Chat): View {
  const page = settings.mode === "page";
  const tab = createKeep(
    `parley:${settings.workspace}:${settings.channel}:${settings.identity?.user_id ?? ""}:`,
    "sessionStorage",
  );
  let isOpen = page;
  const pageTitle = document.title;

  const root = el("div", {
    class: `root ${page ? "page" : "bubble-mode"} ${settings.side}`,
    lang: settings.lang,
    dir: directionOf(settings.lang),
  });
  const theme = createTheme(root, settings.theme);
  const log = createMessageLog(strings, settings.lang, {
    older: () => chat.older(),
    retry(key) {
      const text = chat.retry(key);
      if (text !== undefined) composer.attachAgain(text);
    },
  });
  const lead = createLeadForm(strings, chat);
  const composer = createComposer(strings, chat, tab, () => log.toEnd());

  const face = el("span", { class: "face", "aria-hidden": "true" }, avatar("assistant", ""));
  const title = el(page ? "h1" : "h2", { class: "title", id: "title", dir: "auto" });
  const standing = el("p", { class: "standing" });
  const closeButton = el(
    "button",
    { type: "button", class: "close", "aria-label": strings.close, title: strings.close },
    icon("close"),
  );
  const banner = el("p", { class: "banner", role: "status" });
  const newer = el("button", { type: "button", class: "newer", hidden: "" }, strings.newMessages, icon("down"));
  const panel = el(
    page ? "main" : "section",
    page
      ? { class: "panel", "aria-labelledby": "title" }
      : { class: "panel", role: "dialog", "aria-labelledby": "title", hidden: "" },
    el(
      "div",
      { class: "head" },
      face,
      el("div", { class: "heading-text" }, title, standing),
      page ? undefined : closeButton,
    ),
    el("div", { class: "middle" }, log.element, newer),
    lead.element,
    banner,
    composer.element,
  );
  composer.dropsOn(panel);
  const badge = el("span", { class: "badge", "aria-hidden": "true", hidden: "" });
  const launcher = el(
    "button",
    {
      type: "button",
      class: "launcher",
      "aria-label": strings.open,
      "aria-expanded": "false",
      "aria-haspopup": "dialog",
      hidden: "",
    },
    el("span", { class: "when-closed" }, icon("chat", true)),
    el("span", { class: "when-open" }, icon("down")),
    badge,
  );
  root.append(panel);
  if (!page) root.append(launcher);

  const shadow = host.attachShadow({ mode: "open" });
  addStyle(shadow);
  shadow.append(root);

  const small = matchMedia(phone);
  const fitPhone = (): void => {
    const viewport = window.visualViewport;
    // The sheet ends where the keyboard begins.
    root.style.setProperty("--visible-height", viewport === null ? "100dvh" : `${viewport.height}px`);
    root.style.setProperty("--visible-top", viewport === null ? "0px" : `${viewport.offsetTop}px`);
    if (isOpen && !page) panel.setAttribute("aria-modal", String(small.matches));
  };
  window.visualViewport?.addEventListener("resize", fitPhone);
  window.visualViewport?.addEventListener("scroll", fitPhone);
  small.addEventListener("change", fitPhone);
  fitPhone();

  const show = (open: boolean, moveFocus: boolean): void => {
    if (page || open === isOpen) return;
    isOpen = open;
    tab.write("open", open ? true : undefined);
    panel.hidden = !open;
    root.classList.toggle("open", open);
    launcher.setAttribute("aria-expanded", String(open));
    launcher.setAttribute("aria-label", open ? strings.close : strings.open);
    fitPhone();
    if (open) {
      chat.connect();
      render(chat.state());
      log.toEnd();
      if (moveFocus) composer.focus();
    } else if (moveFocus) launcher.focus();
  };

  launcher.addEventListener("click", () => show(!isOpen, true));
  closeButton.addEventListener("click", () => show(false, true));
  newer.addEventListener("click", () => {
    log.toEnd();
    composer.focus();
  });
  log.element.addEventListener("scroll", () => {
    keepFocus(() => {
      newer.hidden = log.atEnd() || chat.state().unread === 0;
    });
    look();
  });
  panel.addEventListener("keydown", (event) => {
    // Keys typed here are nobody else's shortcuts.
    event.stopPropagation();
    if (page) return;
    if (event.key === "Escape" && !event.isComposing) show(false, true);
    else if (event.key === "Tab" && small.matches) keepInside(event, shadow, panel);
  });
  document.addEventListener("visibilitychange", () => look());
  addEventListener("focus", () => look());

  /** What is on a screen that somebody looks at has been seen. */
  const look = (): void => {
    if (isOpen && document.visibilityState === "visible" && log.atEnd()) chat.seen();
  };

  /** Focus on what goes away would fall to the page behind: it moves to where one writes. */
  const keepFocus = (change: () => void): void => {
    const focused = shadow.activeElement;
    const inside = focused instanceof HTMLElement && panel.contains(focused) ? focused : undefined;
    change();
    if (isOpen && inside !== undefined && inside.offsetParent === null) composer.focus();
  };

  const render = (state: ChatState): void => keepFocus(() => draw(state));

  const draw = (state: ChatState): void => {
    const name = settings.mode === "page" || state.face !== undefined ? (state.face?.title ?? "") : "";
    if (title.textContent !== name) title.textContent = name;
    theme.setColor(settings.color ?? state.face?.color);
    renderStanding(state);
    const trouble =
      state.status === "offline"
        ? strings.offline
        : state.status === "connecting" && hasBeenOnline
          ? strings.connecting
          : state.status === "refused"
            ? strings.refused
            : state.status === "expired"
              ? strings.expired
              : "";
    hasBeenOnline ||= state.status === "online";
    if (banner.textContent !== trouble) banner.textContent = trouble;
    lead.render(state);
    composer.render(state);
    if (isOpen) {
      log.render(state);
      newer.hidden = log.atEnd() || state.unread === 0;
      queueMicrotask(look);
    }
    const count = isOpen ? 0 : state.unread;
    badge.hidden = count === 0;
    // The page around the widget is somebody else's, and so is its title.
    if (page)
      document.title = state.unread === 0 ? pageTitle : `(${state.unread > 99 ? "99+" : state.unread}) ${pageTitle}`;
    badge.textContent = count > 9 ? "9+" : String(count);
    launcher.setAttribute(
      "aria-label",
      isOpen ? strings.close : count === 0 ? strings.open : `${strings.open} (${fill(strings.unread, count)})`,
    );
  };
  let hasBeenOnline = false;
  let faceShown = "";

  const renderStanding = ({ standing: { handledBy, agentName } }: ChatState): void => {
    const text =
      handledBy === "assistant"
        ? strings.answersNow
        : handledBy === "waiting"
          ? strings.waiting
          : handledBy === "resolved"
            ? strings.ended
            : agentName === null
              ? strings.agentUnnamed
              : fill(strings.agentHere, agentName);
    if (standing.textContent !== text) standing.textContent = text;
    root.dataset["handledBy"] = handledBy;
    const shown = handledBy === "agent" ? `agent ${agentName ?? strings.agent}` : "assistant";
    if (shown === faceShown) return;
    faceShown = shown;
    face.replaceChildren(handledBy === "agent" ? avatar("agent", agentName ?? strings.agent) : avatar("assistant", ""));
  };

  return {
    render,
    open: () => show(true, true),
    close: () => show(false, true),
    reveal() {
      if (page) return composer.focus();
      if (!launcher.hidden) return;
      launcher.hidden = false;
      // It was open on the page before this one. The page has the focus now, and keeps it; a phone keeps its screen.
      if (tab.read("open") === true && !small.matches) show(true, false);
    },
  };
}

function addStyle(shadow: ShadowRoot): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    shadow.adoptedStyleSheets = [sheet];
  } catch {
    // Browsers before constructable style sheets.
    shadow.append(el("style", {}, style));
  }
}

/** On a phone the chat covers the page: focus goes round in it. */
function keepInside(event: KeyboardEvent, shadow: ShadowRoot, panel: HTMLElement): void {
  const stops = [
    ...panel.querySelectorAll<HTMLElement>("button:not([disabled]), a[href], textarea, input, summary, [tabindex='0']"),
  ].filter((stop) => stop.offsetParent !== null);
  const edge = event.shiftKey ? stops[0] : stops.at(-1);
  if (shadow.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
}

export function directionOf(lang: string): "ltr" | "rtl" {
  return isRightToLeft(lang) ? "rtl" : "ltr";
}
