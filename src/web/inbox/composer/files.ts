import { sizeText } from "#domain/files.ts";
import type { FileView } from "#http/inbox/wire.ts";
import { uploadFile } from "#web/inbox/store/api.ts";
import { button, createKept, el, icon, place } from "#web/inbox/ui/dom.ts";
import type { DraftFile, Drafts } from "#web/inbox/store/drafts.ts";
import { newClientId } from "#web/inbox/store/drafts.ts";

const filesMax = 20;

interface Sending {
  readonly number: number;
  readonly conversationId: string;
  readonly name: string;
  readonly file: File;
  readonly abort: AbortController;
  share: number;
  problem: string | undefined;
}

/** Files that wait to be sent with the reply. */
export interface Tray {
  readonly element: HTMLElement;
  /** Chooses files from the disk. */
  readonly choose: HTMLElement;
  add(conversationId: string, files: readonly File[]): void;
  /** Nothing of this conversation is on its way any more, or has failed: what was meant to go along goes along. */
  settled(conversationId: string): boolean;
  /** An upload has failed. */
  failed(conversationId: string): boolean;
  render(conversationId: string | undefined): void;
}

export function createTray(
  drafts: Drafts,
  current: () => string | undefined,
  changed: () => void,
  added: () => void,
): Tray {
  const sending = new Set<Sending>();
  const kept = createKept();
  let count = 0;
  const element = el("ul", { class: "tray", "aria-label": "Files to send" });
  const input = el("input", { type: "file", multiple: "", hidden: "", "aria-label": "Files to attach" });
  const open = button("Attach files", () => input.click(), { kind: "icon attach", shape: "clip", iconOnly: true });
  const choose = el("span", { class: "attach" }, open, input);
  input.addEventListener("change", () => {
    const id = current();
    if (id !== undefined) add(id, [...(input.files ?? [])]);
    input.value = "";
  });

  function write(conversationId: string, files: readonly DraftFile[]): void {
    // Other files are another reply.
    drafts.write(conversationId, { files, clientId: newClientId() });
    changed();
  }

  function add(conversationId: string, files: readonly File[]): void {
    for (const file of files) {
      const abort = new AbortController();
      count += 1;
      const one: Sending = {
        number: count,
        conversationId,
        name: file.name,
        file,
        abort,
        share: 0,
        problem: undefined,
      };
      begin(one);
    }
    changed();
    added();
  }

  function begin(one: Sending): void {
    const { conversationId } = one;
    const busy = [...sending].filter((each) => each !== one && each.conversationId === conversationId).length;
    sending.add(one);
    one.share = 0;
    one.problem =
      drafts.read(conversationId).files.length + busy >= filesMax
        ? `A reply has at most ${filesMax} files.`
        : undefined;
    if (one.problem === undefined) void upload(one);
  }

  async function upload(one: Sending): Promise<void> {
    try {
      const done = await uploadFile(one.conversationId, one.file, one.abort.signal, (share) => {
        one.share = share;
        changed();
      });
      sending.delete(one);
      const { id, name, bytes } = done;
      write(one.conversationId, [...drafts.read(one.conversationId).files, { id, name, bytes: bytes ?? 0 }]);
    } catch (error) {
      if (one.abort.signal.aborted) return;
      one.problem = error instanceof Error ? error.message : "It could not be uploaded.";
      changed();
    }
  }

  const remove = (name: string, act: () => void): HTMLElement =>
    button(`Remove ${name}`, act, { kind: "icon", shape: "close", iconOnly: true });

  function drawReady(conversationId: string, file: DraftFile): HTMLElement {
    const drop = (): void => {
      write(
        conversationId,
        drafts.read(conversationId).files.filter(({ id }) => id !== file.id),
      );
      // Files that are not sent are removed after a day, so an error changes nothing.
      fetch(`/inbox/api/files/${file.id}`, { method: "DELETE", credentials: "same-origin" }).catch(() => undefined);
    };
    return el(
      "li",
      {},
      icon("page"),
      el("span", { class: "file-name", dir: "auto" }, file.name),
      el("span", { class: "file-size" }, sizeText(file.bytes)),
      remove(file.name, drop),
    );
  }

  function drawSending(one: Sending): HTMLElement {
    const { name, problem, share } = one;
    const again = (): void => {
      begin(one);
      changed();
    };
    const drop = (): void => {
      one.abort.abort();
      sending.delete(one);
      changed();
    };
    return el(
      "li",
      problem === undefined ? {} : { class: "problem", role: "alert" },
      icon(problem === undefined ? "page" : "alert"),
      el("span", { class: "file-name", dir: "auto" }, name),
      problem === undefined
        ? el("progress", { max: "1", value: String(share), "aria-label": `Uploading ${name}` })
        : el("span", { class: "file-size" }, `Not attached: ${problem}`),
      problem !== undefined && button("Try again", again, { kind: "secondary" }),
      remove(name, drop),
    );
  }

  function render(conversationId: string | undefined): void {
    const nodes =
      conversationId === undefined
        ? []
        : [
            ...drafts
              .read(conversationId)
              .files.map((file) => kept(file.id, conversationId, () => drawReady(conversationId, file))),
            ...[...sending]
              .filter((each) => each.conversationId === conversationId)
              .map((one) => kept(`sending ${one.number}`, [one.share, one.problem], () => drawSending(one))),
          ];
    place(element, nodes);
    kept.prune();
    element.hidden = nodes.length === 0;
  }

  return {
    element,
    choose,
    add,
    failed: (id) => [...sending].some((each) => each.conversationId === id && each.problem !== undefined),
    settled: (conversationId) => ![...sending].some((each) => each.conversationId === conversationId),
    render,
  };
}

/** The files of a message: pictures are shown, everything else can only be saved. */
export function fileList(files: readonly FileView[]): HTMLElement | undefined {
  if (files.length === 0) return undefined;
  return el("ul", { class: "files" }, ...files.map(fileEntry));
}

function fileEntry({ name, bytes, state, reason, url, preview }: FileView): HTMLElement {
  const size = bytes === null ? "" : sizeText(bytes);
  if (url === null) {
    return el(
      "li",
      { class: state },
      icon(state === "failed" ? "alert" : "clock"),
      el("span", { class: "file-name", dir: "auto" }, name),
      el(
        "span",
        { class: "file-size" },
        state === "failed"
          ? `Not available: ${reason ?? ""}`
          : reason === null
            ? "Being fetched…"
            : `Not fetched yet: ${reason}`,
      ),
    );
  }
  const link = (...children: readonly (Node | string)[]): HTMLElement =>
    el("a", { href: url, download: name, rel: "noopener" }, ...children);
  const facts = [el("span", { class: "file-name", dir: "auto" }, name), el("span", { class: "file-size" }, size)];
  return preview
    ? el("li", { class: "picture" }, link(el("img", { src: url, alt: name, loading: "lazy" }), ...facts))
    : el("li", {}, link(icon("page"), ...facts));
}
