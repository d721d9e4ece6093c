import { sizeText } from "#domain/files.ts";
import type { Face, FileFrame, UploadRefusal, UploadedFile } from "../../frames.ts";
import type { Chat } from "../chat.ts";
import { el, icon } from "./dom.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";
import { UploadRefused } from "../upload.ts";

const filesMax = 10;

interface Entry {
  readonly file: File;
  readonly abort: AbortController;
  readonly node: HTMLElement;
  readonly bar: HTMLProgressElement;
  uploaded?: UploadedFile;
  failed?: true;
}

/** Files that wait to be sent with the message. */
export interface Tray {
  readonly element: HTMLElement;
  readonly choose: HTMLElement;
  /** Opens the browser's dialog for files. */
  ask(): void;
  /** False when there are none, or none are taken. */
  add(files: readonly File[]): boolean;
  /** What is uploaded; undefined while something is on its way. */
  ready(): readonly UploadedFile[] | undefined;
  /** What was uploaded is on its way with a message; what could not be stays here, to be tried again. */
  clear(): void;
  render(face: Face | undefined): void;
}

export function createTray(strings: Strings, chat: Chat, changed: () => void): Tray {
  const entries = new Set<Entry>();
  let allowed: Face["files"] = null;
  const element = el("ul", { class: "tray", hidden: "" });
  const input = el("input", { type: "file", multiple: "", hidden: "" });
  const open = el(
    "button",
    { type: "button", class: "attach", "aria-label": strings.attach, title: strings.attach },
    icon("clip"),
  );
  const choose = el("span", { class: "attaching", hidden: "" }, open, input);
  open.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    add([...(input.files ?? [])]);
    input.value = "";
  });

  const update = (): void => {
    element.hidden = entries.size === 0;
    changed();
  };

  function add(files: readonly File[]): boolean {
    if (allowed === null || files.length === 0) return false;
    for (const file of files) begin(file, allowed.bytesMax);
    update();
    // Of many the last is seen: those that are too many are there.
    element.scrollTop = element.scrollHeight;
    return true;
  }

  const wanted = (): readonly Entry[] => [...entries].filter(({ failed }) => failed !== true);

  function begin(file: File, bytesMax: number): void {
    const bar = el("progress", { max: "1", value: "0", "aria-label": fill(strings.uploading, file.name) });
    const remove = el(
      "button",
      { type: "button", class: "remove", "aria-label": fill(strings.removeFile, file.name) },
      icon("close"),
    );
    const node = el("li", {}, icon("page"), el("span", { class: "file-name", dir: "auto" }, file.name), bar, remove);
    const entry: Entry = { file, abort: new AbortController(), node, bar };
    remove.addEventListener("click", () => {
      entry.abort.abort();
      entries.delete(entry);
      node.remove();
      update();
    });
    const full = wanted().length >= filesMax;
    entries.add(entry);
    element.append(node);
    if (full) fail(entry, fill(strings.filesMax, filesMax), again(entry, bytesMax));
    else if (file.size > bytesMax) fail(entry, tooLarge(bytesMax));
    else void upload(entry, bytesMax);
  }

  function again(entry: Entry, bytesMax: number): HTMLElement {
    const button = el("button", { type: "button", class: "again" }, strings.retry);
    button.addEventListener("click", () => {
      entry.abort.abort();
      entries.delete(entry);
      entry.node.remove();
      begin(entry.file, bytesMax);
      update();
      open.focus();
    });
    return button;
  }

  async function upload(entry: Entry, bytesMax: number): Promise<void> {
    try {
      entry.uploaded = await chat.upload(entry.file, entry.abort.signal, (share) => {
        entry.bar.value = share;
      });
      entry.bar.replaceWith(el("span", { class: "file-size" }, sizeText(entry.uploaded.bytes)));
    } catch (error) {
      if (entry.abort.signal.aborted) return;
      const code = error instanceof UploadRefused ? error.code : "unavailable";
      const told: Partial<Record<UploadRefusal, string>> = {
        too_large: tooLarge(bytesMax),
        type: strings.fileType,
        limited: strings.limited,
        quota: strings.fileQuota,
        full: strings.storageFull,
      };
      const isFinal = code === "too_large" || code === "type";
      fail(entry, told[code] ?? strings.fileFailed, isFinal ? undefined : again(entry, bytesMax));
    }
    update();
  }

  function fail(entry: Entry, why: string, retry?: HTMLElement): void {
    entry.failed = true;
    entry.node.classList.add("failed");
    entry.bar.replaceWith(
      el("span", { class: "file-size", role: "alert" }, why),
      ...(retry === undefined ? [] : [retry]),
    );
  }

  const tooLarge = (bytesMax: number): string => fill(strings.fileTooLarge, Math.floor(bytesMax / 1_048_576));
  const ready = (): readonly UploadedFile[] | undefined => {
    const all = wanted();
    const done = all.flatMap(({ uploaded }) => (uploaded === undefined ? [] : [uploaded]));
    return done.length === all.length ? done : undefined;
  };

  return {
    element,
    choose,
    ask: () => input.click(),
    add,
    ready,
    clear() {
      for (const entry of wanted()) {
        entries.delete(entry);
        entry.node.remove();
      }
      update();
    },
    render(face) {
      allowed = face?.files ?? null;
      choose.hidden = allowed === null;
      input.accept = (allowed?.types ?? []).join(",");
    },
  };
}

/** The files of a message: pictures are shown, everything else can only be saved. */
export function fileList(files: readonly FileFrame[], strings: Strings): HTMLElement | undefined {
  if (files.length === 0) return undefined;
  const entry = ({ name, bytes, url, preview }: FileFrame): HTMLElement => {
    const facts = [
      el("span", { class: "file-name", dir: "auto" }, name),
      el("span", { class: "file-size" }, bytes === null ? "" : sizeText(bytes)),
    ];
    if (url === null || !/^https?:\/\//u.test(url)) return el("li", {}, icon("page"), ...facts);
    const picture = preview && el("img", { src: url, alt: name, loading: "lazy", referrerpolicy: "no-referrer" });
    if (picture !== false) {
      // Pages that show no pictures of others show the name.
      picture.addEventListener("error", () => picture.remove());
    }
    const link = el(
      "a",
      { href: url, target: "_blank", rel: "noopener noreferrer", download: name },
      picture === false ? icon("page") : picture,
      ...facts,
      el("span", { class: "hidden" }, ` (${strings.newTab})`),
    );
    return el("li", preview ? { class: "picture" } : {}, link);
  };
  return el("ul", { class: "files" }, ...files.map(entry));
}
