import type { Chat, ChatState } from "../chat.ts";
import { el, icon } from "./dom.ts";
import { createTray } from "./files.ts";
import type { Keep } from "../storage.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";
import { takeDroppedFiles } from "#web/shared/dropped-files.ts";

const codePointsMax = 4_000;
const warnFrom = 3_600;

export interface Composer {
  readonly element: HTMLElement;
  focus(): void;
  /** Takes back the text of a message whose files are gone, and asks for these. */
  attachAgain(given: string): void;
  /** Files that are dropped there are sent with the message; the browser would open them in place of the page. */
  dropsOn(target: HTMLElement): void;
  render(state: ChatState): void;
}

/** Enter sends, Shift+Enter makes a line; what was begun is still there on the next page. */
export function createComposer(strings: Strings, chat: Chat, keep: Keep, sent: () => void): Composer {
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
  const element = el(
    "form",
    { class: "composer" },
    tray.element,
    el("div", { class: "field" }, text, tray.choose, send),
    left,
  );

  const fit = (): void => {
    // An empty field has the direction of the page: its placeholder is in the page's language.
    if (text.value === "") text.removeAttribute("dir");
    else text.dir = "auto";
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, 132)}px`;
    const length = [...text.value].length;
    const ready = tray.ready();
    send.disabled = ready === undefined || (text.value.trim() === "" && ready.length === 0) || length > codePointsMax;
    left.textContent =
      length < warnFrom
        ? ""
        : fill(
            length > codePointsMax ? strings.tooLong : strings.left,
            length > codePointsMax ? codePointsMax : codePointsMax - length,
          );
    left.classList.toggle("over", length > codePointsMax);
  };
  const submit = (): void => {
    if (send.disabled) return;
    if (!chat.submit(text.value.trim(), tray.ready())) {
      left.textContent = strings.limited;
      return;
    }
    tray.clear();
    text.value = "";
    keep.write("draft", undefined);
    fit();
    text.focus();
    sent();
  };

  text.addEventListener("keydown", (event) => {
    // While an input method composes, Enter chooses a word.
    // oxlint-disable-next-line typescript/no-deprecated -- Safari tells of it by this alone
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  });
  text.addEventListener("input", () => {
    fit();
    keep.write("draft", text.value === "" ? undefined : text.value);
    if (text.value.trim() !== "") chat.typing();
  });
  text.addEventListener("paste", (event) => {
    if (tray.add([...(event.clipboardData?.files ?? [])])) event.preventDefault();
  });
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });

  const draft = keep.read("draft");
  if (typeof draft === "string") text.value = draft;
  fit();
  return {
    element,
    dropsOn: (target) => takeDroppedFiles(target, element, (files) => tray.add([...files])),
    attachAgain(given) {
      text.value = [given, text.value].filter((each) => each !== "").join("\n");
      keep.write("draft", text.value === "" ? undefined : text.value);
      fit();
      text.focus();
      tray.ask();
    },
    focus: () => {
      fit();
      text.focus({ preventScroll: true });
    },
    render: ({ status, face }) => {
      tray.render(face);
      text.disabled = status === "refused";
    },
  };
}
