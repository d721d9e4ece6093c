import type { InboxStore } from "#web/inbox/store/state.ts";
import { button, el, icon, place } from "#web/inbox/ui/dom.ts";
import type { Drafts, Mode } from "#web/inbox/store/drafts.ts";
import { newClientId } from "#web/inbox/store/drafts.ts";
import { createTray } from "./files.ts";
import { createSavedReplies } from "./saved-replies.ts";
import { shortName, tooLong } from "#web/inbox/ui/labels.ts";
import { takeDroppedFiles } from "#web/shared/dropped-files.ts";

export interface Composer {
  readonly element: HTMLElement;
  render(): void;
  focus(mode: Mode): void;
  /** Files that are dropped there go with the reply; the browser would open them in place of the inbox. */
  dropsOn(target: HTMLElement): void;
  /** Sends the reply that was held back because a colleague has the conversation. */
  sendAnyway(): Promise<void>;
  /** Makes a note of it. */
  keepAsNote(): Promise<void>;
}

const isMac = /mac|iphone|ipad/iu.test(navigator.userAgent);

/** Writes replies, which customers read, and notes, which they never do. Which of the two it is cannot be missed. */
export function createComposer(
  store: InboxStore,
  drafts: Drafts,
  on: { readonly sent: () => void; readonly left: (field: Element) => void; readonly changed: () => void },
): Composer {
  const tab = (mode: Mode, label: string, key: string): HTMLButtonElement => {
    const element = button(label, () => choose(mode), {
      kind: "tab",
      key,
      ...(mode === "note" ? { shape: "lock" as const } : {}),
    });
    element.setAttribute("aria-pressed", "false");
    return element;
  };
  const replyTab = tab("reply", "Reply", "r");
  const noteTab = tab("note", "Note", "n");
  const hint = el("span", { class: "composer-hint", id: "composer-hint" });
  const field = el("textarea", {
    rows: "1",
    "aria-describedby": "composer-hint",
    dir: "auto",
  });
  const sendLabel = el("span");
  const sendButton = el("button", { type: "submit", class: "primary send" }, icon("send"), sendLabel);
  const banner = el("div", { class: "stale", role: "alert" });
  const tray = createTray(
    drafts,
    () => store.state().selected,
    on.changed,
    () => field.focus(),
  );
  const saved = createSavedReplies(
    field,
    () => store.state().savedReplies,
    () => {
      const { conversation, me } = store.state();
      return conversation && { customer: conversation.customer.name, agent: me.agent.name };
    },
  );
  const form = el(
    "form",
    { class: "composer" },
    banner,
    el(
      "div",
      { class: "composer-bar" },
      el("div", { class: "tabs", role: "group", "aria-label": "What to write" }, replyTab, noteTab),
      hint,
    ),
    saved.element,
    field,
    tray.element,
    el(
      "div",
      { class: "composer-foot" },
      saved.opener,
      tray.choose,
      el("span", { class: "keys-hint" }, el("kbd", {}, isMac ? "⌘" : "Ctrl"), " ", el("kbd", {}, "Enter")),
      sendButton,
    ),
  );
  let shown: string | undefined;
  /** The conversation whose reply is sent as soon as its files are uploaded. */
  let sendsWhenUploaded: string | undefined;

  const fit = (): void => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 260)}px`;
  };

  function choose(mode: Mode): void {
    const id = store.state().selected;
    if (id === undefined) return;
    drafts.write(id, { mode });
    shown = undefined;
    store.dismissNewer();
    field.focus();
  }

  field.addEventListener("input", () => {
    const id = store.state().selected;
    if (id === undefined) return;
    const { mode } = drafts.read(id);
    const hadDraft = drafts.has(id);
    // Another text is another reply, or another note.
    drafts.write(id, { [mode]: field.value, clientId: newClientId() });
    sendsWhenUploaded = undefined;
    fit();
    render();
    // The list marks conversations with a draft.
    if (drafts.has(id) !== hadDraft) on.changed();
    if (mode === "reply" && field.value.trim() !== "") store.typing();
  });
  field.addEventListener("keydown", (event) => {
    if (saved.keydown(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      on.left(field);
    }
  });
  /** Something is written or attached, and nothing is still on its way. */
  function isSendable(id: string): boolean {
    const { mode, files } = drafts.read(id);
    if (tooLong(field.value) !== undefined) return false;
    if (mode === "note") return field.value.trim() !== "";
    return tray.settled(id) && (field.value.trim() !== "" || files.length > 0);
  }

  const take = (files: FileList | undefined): boolean => {
    const id = store.state().selected;
    if (id === undefined || files === undefined || files.length === 0 || drafts.read(id).mode === "note") return false;
    tray.add(id, [...files]);
    return true;
  };
  field.addEventListener("paste", (event) => {
    if (take(event.clipboardData?.files)) event.preventDefault();
  });
  form.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (store.state().newer !== undefined) return;
    const id = store.state().selected;
    const isUploading = id !== undefined && !tray.settled(id) && !tray.failed(id) && drafts.read(id).mode === "reply";
    if (isUploading && tooLong(field.value) === undefined) {
      sendsWhenUploaded = id;
      render();
    } else void submit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });

  async function submit(how: { readonly force?: boolean; readonly anyway?: boolean } = {}): Promise<void> {
    const id = store.state().selected;
    if (id === undefined || !isSendable(id)) return;
    if (!(await store.send(how))) return;
    on.sent();
    shown = undefined;
    render();
    field.focus();
  }

  const anyway = button("Send anyway", () => void submit({ force: true, anyway: true }), { kind: "secondary" });
  const review = button(
    "Keep editing",
    () => {
      store.dismissNewer();
      field.focus();
    },
    { kind: "plain" },
  );

  function render(): void {
    const { conversation, busy, newer, me } = store.state();
    if (conversation === undefined) {
      shown = undefined;
      return;
    }
    const draft = drafts.read(conversation.id);
    const key = `${conversation.id} ${draft.mode}`;
    if (shown !== key || field.value !== draft[draft.mode]) {
      shown = key;
      field.value = draft[draft.mode];
      requestAnimationFrame(fit);
    }
    const note = draft.mode === "note";
    form.classList.toggle("note-mode", note);
    replyTab.setAttribute("aria-pressed", String(!note));
    noteTab.setAttribute("aria-pressed", String(note));
    const other =
      conversation.status === "claimed" &&
      conversation.assignee !== null &&
      conversation.assignee.email !== me.agent.email;
    const claims = conversation.status === "open" || conversation.status === "escalated";
    const held = !note && !tray.settled(conversation.id);
    if (sendsWhenUploaded !== undefined) sendWhenUploaded(conversation.id, note);
    const long = tooLong(field.value);
    hint.classList.toggle("over", long !== undefined);
    hint.textContent =
      long !== undefined
        ? long
        : note
          ? "Only your team sees notes."
          : held
            ? sendsWhenUploaded === conversation.id
              ? "The reply is sent when its files are uploaded."
              : "The reply waits for its files: see below."
            : other
              ? `${conversation.assignee.name} has this conversation.`
              : claims
                ? "Replying claims the conversation."
                : "";
    const label = note ? "Add note" : "Send reply";
    sendLabel.textContent = label;
    field.setAttribute("aria-label", note ? "Internal note" : `Reply to ${conversation.customer.label}`);
    field.placeholder = note
      ? "Write a note for your team…"
      : `Reply to ${shortName(conversation.customer.label).replace(/…?$/u, "…")}`;
    tray.render(note ? undefined : conversation.id);
    tray.choose.hidden = note;
    saved.render();
    sendButton.disabled = busy || !isSendable(conversation.id);
    place(
      banner,
      newer === undefined || note
        ? []
        : [
            staleText(
              newer.length,
              newer.at(-1)?.role === "agent" ? (newer.at(-1)?.author ?? "A colleague") : conversation.customer.label,
            ),
            anyway,
            review,
          ],
    );
  }

  function sendWhenUploaded(id: string, note: boolean): void {
    if (sendsWhenUploaded !== id || note || tray.failed(id)) sendsWhenUploaded = undefined;
    else if (tray.settled(id)) {
      sendsWhenUploaded = undefined;
      void submit();
    }
  }

  const stale = el("p", {});
  function staleText(count: number, name: string): Node {
    const text =
      count === 1
        ? `${name} wrote while you were writing. Read it before you send?`
        : `${count} messages came in while you were writing, the last by ${name}. Read them before you send?`;
    if (stale.textContent !== text) stale.textContent = text;
    return stale;
  }

  return {
    element: form,
    render,
    dropsOn: (target) =>
      takeDroppedFiles(target, form, (files) => {
        if (!form.hidden) take(files);
      }),
    sendAnyway: () => submit({ anyway: true }),
    async keepAsNote() {
      const id = store.state().selected;
      if (id === undefined) return;
      const { reply, note } = drafts.read(id);
      const text = [note.trim(), reply.trim()].filter((each) => each !== "").join("\n\n");
      drafts.write(id, { mode: "note", note: text, reply: "", clientId: newClientId() });
      shown = undefined;
      render();
      await submit();
    },
    focus(mode) {
      choose(mode);
      render();
    },
  };
}
