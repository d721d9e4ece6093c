import type { Chat } from "../session/chat.ts";
import type { ChatState } from "../session/chat-state.ts";
import type { AnsweredMessage } from "../storage/stored-values.ts";
import { answeredFrom } from "../storage/stored-values.ts";
import { el, icon, iconButton } from "./dom.ts";
import { quoted } from "./quoted.ts";
import { createTray } from "./files/tray.ts";
import type { BrowserStorage } from "../storage/browser-storage.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";
import { takeDroppedFiles } from "#web/shared/dropped-files.ts";

const codePointsMax = 4_000;
const warnFrom = 3_600;

export interface Composer {
  readonly element: HTMLElement;
  focus(): void;
  /** Puts the text of a message whose files are gone back, and asks for the files. */
  attachAgain(refusedText: string): void;
  /** The message will answer this one. */
  answer(message: AnsweredMessage): void;
  /** Attaches files that are dropped on `target`; the browser would open them in place of the page. */
  dropsOn(target: HTMLElement): void;
  render(state: ChatState): void;
}

/**
 * The field for the customer's message. Enter sends, Shift+Enter begins a line. A draft is kept for the next page of the
 * tab. `sent` is called after a message is submitted.
 */
export function createComposer(strings: Strings, chat: Chat, tab: BrowserStorage, sent: () => void): Composer {
  const text = el("textarea", {
    rows: "1",
    placeholder: strings.placeholder,
    "aria-label": strings.placeholder,
    enterkeyhint: "send",
  });
  const send = el(
    "button",
    { type: "submit", class: "send", "aria-label": strings.send, title: strings.send },
    icon("send"),
  );
  const tray = createTray(strings, chat, () => fit());
  const left = el("span", { class: "left", role: "status" });
  const answeredPlace = el("div", { class: "answered", hidden: "" });
  const element = el(
    "form",
    { class: "composer" },
    answeredPlace,
    tray.element,
    el("div", { class: "field" }, text, tray.choose, send),
    left,
  );

  let answered: AnsweredMessage | undefined;
  const showAnswered = (message: AnsweredMessage | undefined): void => {
    answered = message;
    tab.write("answered", message);
    answeredPlace.hidden = message === undefined;
    answeredPlace.replaceChildren(
      ...(message === undefined
        ? []
        : [quoted(message, strings), iconButton("close", "remove", strings.replyToNone, () => answer(undefined))]),
    );
  };
  const answer = (message: AnsweredMessage | undefined): void => {
    showAnswered(message);
    text.focus();
  };

  const fit = (): void => {
    // The placeholder is in the page's language, and has its direction.
    if (text.value === "") text.removeAttribute("dir");
    else text.dir = "auto";
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, 132)}px`;
    const length = [...text.value].length;
    const isOver = length > codePointsMax;
    const ready = tray.ready();
    send.disabled = ready === undefined || (text.value.trim() === "" && ready.length === 0) || isOver;
    const note = isOver ? fill(strings.tooLong, codePointsMax) : fill(strings.left, codePointsMax - length);
    left.textContent = length < warnFrom ? "" : note;
    left.classList.toggle("over", isOver);
  };
  const submit = (): void => {
    if (send.disabled) return;
    const reference = answered === undefined ? {} : { refersTo: answered };
    if (!chat.submit(text.value.trim(), { files: tray.ready() ?? [], ...reference })) {
      left.textContent = strings.limited;
      return;
    }
    tray.clear();
    showAnswered(undefined);
    text.value = "";
    tab.write("draft", undefined);
    fit();
    text.focus();
    sent();
  };

  text.addEventListener("keydown", (event) => {
    // Enter confirms a word while an input method is composing.
    // oxlint-disable-next-line typescript/no-deprecated -- Safari reports composition only in keyCode
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  });
  text.addEventListener("input", () => {
    fit();
    tab.write("draft", text.value === "" ? undefined : text.value);
    if (text.value.trim() !== "") chat.sendTyping();
  });
  text.addEventListener("paste", (event) => {
    if (tray.add([...(event.clipboardData?.files ?? [])])) event.preventDefault();
  });
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });

  showAnswered(answeredFrom(tab.read("answered")));
  const draft = tab.read("draft");
  if (typeof draft === "string") text.value = draft;
  fit();
  return {
    element,
    answer,
    dropsOn: (target) => takeDroppedFiles(target, element, (files) => tray.add([...files])),
    attachAgain(refusedText) {
      text.value = [refusedText, text.value].filter((each) => each !== "").join("\n");
      tab.write("draft", text.value === "" ? undefined : text.value);
      fit();
      text.focus();
      tray.ask();
    },
    focus: () => {
      fit();
      text.focus({ preventScroll: true });
    },
    render: ({ connection, branding, messages, replaying, older }) => {
      const shown = messages.find(({ id }) => id === answered?.id);
      const isGone = shown === undefined ? older === "none" && !replaying : shown.deleted === true;
      if (answered !== undefined && isGone) showAnswered(undefined);
      tray.render(branding);
      text.disabled = connection === "refused";
    },
  };
}
