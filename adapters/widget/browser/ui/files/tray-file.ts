import { sizeText } from "#domain/files.ts";
import type { UploadRefusal, UploadedFile } from "../../../frames.ts";
import type { Chat } from "../../session/chat.ts";
import { UploadRefused } from "../../session/upload.ts";
import { button, el, icon } from "../dom.ts";
import type { Strings } from "../strings.ts";
import { fill } from "../strings.ts";

/** A file in the tray: its row and its upload. */
export interface TrayFile {
  readonly node: HTMLElement;
  state(): "uploading" | "failed" | UploadedFile;
}

export interface TrayFileEvents {
  /** The upload has ended. */
  changed(): void;
  /** The customer has removed the file. */
  removed(): void;
  /** The customer wants to upload the file again. */
  retried(): void;
}

/** Starts the upload, unless `problem` says why the file cannot be sent. `canRetry`: the problem may pass. */
export function createTrayFile(
  strings: Strings,
  chat: Chat,
  file: File,
  bytesMax: number,
  problem: { readonly text: string; readonly canRetry: boolean } | undefined,
  events: TrayFileEvents,
): TrayFile {
  const upload = new AbortController();
  let state: ReturnType<TrayFile["state"]> = "uploading";
  const bar = el("progress", { max: "1", value: "0", "aria-label": fill(strings.uploading, file.name) });
  /** Takes the file out of the tray. */
  const leave = (then: () => void) => (): void => {
    upload.abort();
    node.remove();
    then();
  };
  const node = el(
    "li",
    {},
    icon("page"),
    el("span", { class: "file-name", dir: "auto" }, file.name),
    bar,
    button(
      { class: "remove", "aria-label": fill(strings.removeFile, file.name) },
      leave(events.removed),
      icon("close"),
    ),
  );

  const fail = (text: string, canRetry: boolean): void => {
    state = "failed";
    node.classList.add("failed");
    const why = el("span", { class: "file-size", role: "alert" }, text);
    bar.replaceWith(why);
    if (canRetry) why.after(button({ class: "again" }, leave(events.retried), strings.retry));
  };

  const start = async (): Promise<void> => {
    try {
      state = await chat.upload(file, upload.signal, (share) => {
        bar.value = share;
      });
      bar.replaceWith(el("span", { class: "file-size" }, sizeText(state.bytes)));
    } catch (error) {
      if (upload.signal.aborted) return;
      const code = error instanceof UploadRefused ? error.code : "unavailable";
      fail(refusalText(strings, code, bytesMax), code !== "too_large" && code !== "type");
    }
    events.changed();
  };

  if (problem === undefined) void start();
  else fail(problem.text, problem.canRetry);
  return { node, state: () => state };
}

export const tooLargeText = (strings: Strings, bytesMax: number): string =>
  fill(strings.fileTooLarge, Math.floor(bytesMax / 1_048_576));

function refusalText(strings: Strings, code: UploadRefusal, bytesMax: number): string {
  const texts: Partial<Record<UploadRefusal, string>> = {
    too_large: tooLargeText(strings, bytesMax),
    type: strings.fileType,
    limited: strings.limited,
    quota: strings.fileQuota,
    full: strings.storageFull,
  };
  return texts[code] ?? strings.fileFailed;
}
