import type { Branding, UploadedFile } from "../../../frames.ts";
import type { Chat } from "../../session/chat.ts";
import { el, iconButton } from "../dom.ts";
import type { Strings } from "../strings.ts";
import { fill } from "../strings.ts";
import type { TrayFile } from "./tray-file.ts";
import { createTrayFile, tooLargeText } from "./tray-file.ts";

const filesMax = 10;

/** The files that will be sent with the message. */
export interface Tray {
  readonly element: HTMLElement;
  /** The button that attaches files. */
  readonly choose: HTMLElement;
  /** Opens the browser's file dialog. */
  ask(): void;
  /** False: there are no files, or the workspace takes none. */
  add(files: readonly File[]): boolean;
  /** The uploaded files; undefined while an upload is running. */
  ready(): readonly UploadedFile[] | undefined;
  /** Called when the message is sent. Failed files stay, and can be retried. */
  clear(): void;
  render(branding: Branding | undefined): void;
}

/** `changed` is called when a file is added, removed or uploaded. */
export function createTray(strings: Strings, chat: Chat, changed: () => void): Tray {
  const files = new Set<TrayFile>();
  let allowed: Branding["files"] = null;
  const element = el("ul", { class: "tray", hidden: "" });
  const input = el("input", { type: "file", multiple: "", hidden: "" });
  const open = iconButton("clip", "attach", strings.attach, () => input.click());
  const choose = el("span", { class: "attaching", hidden: "" }, open, input);
  input.addEventListener("change", () => {
    add([...(input.files ?? [])]);
    input.value = "";
  });

  const update = (): void => {
    element.hidden = files.size === 0;
    changed();
  };

  const notFailed = (): readonly TrayFile[] => [...files].filter((file) => file.state() !== "failed");

  const add = (added: readonly File[]): boolean => {
    if (allowed === null || added.length === 0) return false;
    for (const file of added) begin(file, allowed.bytesMax);
    update();
    // Shows the last one: files above the limit are at the end.
    element.scrollTop = element.scrollHeight;
    return true;
  };

  const begin = (file: File, bytesMax: number): void => {
    const isTooMany = notFailed().length >= filesMax;
    const text = isTooMany
      ? fill(strings.filesMax, filesMax)
      : file.size > bytesMax
        ? tooLargeText(strings, bytesMax)
        : undefined;
    const problem = text === undefined ? undefined : { text, canRetry: isTooMany };
    const entry = createTrayFile(strings, chat, file, bytesMax, problem, {
      changed: update,
      removed() {
        files.delete(entry);
        update();
      },
      retried() {
        files.delete(entry);
        begin(file, bytesMax);
        update();
        open.focus();
      },
    });
    files.add(entry);
    element.append(entry.node);
  };

  return {
    element,
    choose,
    ask: () => input.click(),
    add,
    ready() {
      const states = [...files].map((file) => file.state()).filter((state) => state !== "failed");
      const uploaded = states.filter((state) => state !== "uploading");
      return uploaded.length === states.length ? uploaded : undefined;
    },
    clear() {
      for (const file of notFailed()) {
        files.delete(file);
        file.node.remove();
      }
      update();
    },
    render(branding) {
      allowed = branding?.files ?? null;
      choose.hidden = allowed === null;
      input.accept = (allowed?.types ?? []).join(",");
    },
  };
}
