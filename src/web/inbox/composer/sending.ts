import { effect, signal, untracked } from "@preact/signals";
import type { Actions } from "#web/inbox/store/actions.ts";
import { api } from "#web/inbox/store/api.ts";
import type { ConversationSync } from "#web/inbox/store/conversation-sync.ts";
import type { AnsweredMessage, Drafts, Mode } from "#web/inbox/store/drafts.ts";
import { newClientId } from "#web/inbox/store/drafts.ts";
import type { OpenConversation } from "#web/inbox/store/open-conversation.ts";
import { tooLong } from "#web/inbox/ui/labels.ts";
import type { Uploads } from "./uploads.ts";

const typingReportedMs = 3_000;

/** `force`: although messages came in that were not seen. `anyway`: although a colleague has the conversation. */
export interface SendOptions {
  readonly force?: boolean;
  readonly anyway?: boolean;
}

/** Sends the draft of the open conversation. `held`: a colleague has the conversation, and the reply was not sent. */
export function createSending(
  open: OpenConversation,
  drafts: Drafts,
  uploads: Uploads,
  { change }: Pick<Actions, "change">,
  { jump }: Pick<ConversationSync, "jump">,
  held: (name: string) => void,
) {
  /** The conversation whose reply is sent when its files are uploaded. */
  const queued = signal<string | undefined>(undefined);
  let typingReportedAt = 0;

  /** There is something to send, and all its files are uploaded. */
  function isSendable(id: string): boolean {
    const draft = drafts.read(id);
    const text = draft[draft.mode];
    if (tooLong(text) !== undefined) return false;
    if (draft.mode === "note") return text.trim() !== "";
    return uploads.isDone(id) && (text.trim() !== "" || draft.files.length > 0);
  }

  async function send(id: string, lastSeq: number, { force = false, anyway = false }: SendOptions): Promise<boolean> {
    const { mode, clientId, files, answered, ...texts } = drafts.read(id);
    const content = texts[mode].trim();
    const fileIds = files.map((file) => file.id);
    const isSent = await change(
      () =>
        mode === "note"
          ? api.act(id, "notes", { content, clientId })
          : api.act(id, "reply", {
              content,
              clientId,
              lastSeq,
              force,
              anyway,
              files: fileIds,
              ...(answered === null ? {} : { refersTo: answered.id }),
            }),
      held,
    );
    if (!isSent) return false;
    const now = drafts.read(id);
    drafts.write(id, {
      [mode]: writtenSince(now[mode], content),
      clientId: newClientId(),
      // The agent may have chosen another message meanwhile.
      ...(mode === "reply" ? { files: [], answered: now.answered?.id === answered?.id ? null : now.answered } : {}),
    });
    open.unseen.value = undefined;
    return true;
  }

  /** Sends what can be sent, and shows it. */
  async function submit(options: SendOptions = {}): Promise<void> {
    const conversation = open.conversation.value;
    if (conversation === undefined || !isSendable(conversation.id)) return;
    if (!(await send(conversation.id, conversation.lastSeq, options))) return;
    void jump("end", { focus: false });
    focusField();
  }

  /** Tells the customer that a reply is being written. */
  function reportTyping(id: string): void {
    if (Date.now() - typingReportedAt < typingReportedMs) return;
    typingReportedAt = Date.now();
    // Best effort: an error changes nothing.
    api.typing(id).catch(() => undefined);
  }

  effect(() => {
    const [id, current] = [queued.value, open.conversation.value?.id];
    if (id === undefined || current === undefined) return;
    const isDone = uploads.isDone(id);
    const isOff = current !== id || drafts.read(id).mode === "note" || uploads.hasFailed(id);
    if (!isDone && !isOff) return;
    queued.value = undefined;
    if (!isOff) void untracked(submit);
  });

  return {
    queued,
    isSendable,
    submit,
    /** Adds files to the reply. Returns false where the agent writes no reply. */
    attach(files: FileList | null | undefined): boolean {
      const conversation = open.conversation.value;
      if (conversation === undefined || conversation.status === "archived") return false;
      if (files === null || files === undefined || files.length === 0 || drafts.read(conversation.id).mode === "note")
        return false;
      uploads.add(conversation.id, [...files]);
      focusField();
      return true;
    },
    /** Sends the reply, as soon as its files are uploaded. */
    submitWhenUploaded(id: string): void {
      const draft = drafts.read(id);
      const isUploading = draft.mode === "reply" && !uploads.isDone(id) && !uploads.hasFailed(id);
      if (isUploading && tooLong(draft.reply) === undefined) queued.value = id;
      else void submit();
    },
    /** Chooses what is written, and moves the focus there. */
    choose(mode: Mode): void {
      const id = open.selected.value;
      if (id === undefined) return;
      drafts.write(id, { mode });
      open.unseen.value = undefined;
      focusField();
    },
    /** The reply answers this message; null: none in particular. */
    answer(answered: AnsweredMessage | null): void {
      const id = open.selected.value;
      if (id === undefined) return;
      drafts.write(id, { mode: "reply", answered, clientId: newClientId() });
      focusField();
    },
    /** The agent changed the text. */
    write(id: string, text: string): void {
      const { mode } = drafts.read(id);
      // Another text makes another reply, or another note.
      drafts.write(id, { [mode]: text, clientId: newClientId() });
      queued.value = undefined;
      if (mode === "reply" && text.trim() !== "") reportTyping(id);
    },
    /** Stores the reply as a note. */
    async keepAsNote(): Promise<void> {
      const id = open.selected.value;
      if (id === undefined) return;
      const { reply, note } = drafts.read(id);
      const text = [note.trim(), reply.trim()].filter((each) => each !== "").join("\n\n");
      drafts.write(id, { mode: "note", note: text, reply: "", answered: null, clientId: newClientId() });
      await submit();
    },
  };
}

export const focusField = (): void => document.querySelector<HTMLElement>(".composer textarea")?.focus();

/** The text that the agent wrote while the first part was being sent. */
function writtenSince(now: string, sent: string): string {
  const text = now.trim();
  if (text === sent) return "";
  const rest = text.startsWith(sent) ? text.slice(sent.length) : text;
  return /^\s/u.test(rest) ? rest.trimStart() : now;
}
