import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { ConversationView, MessageView } from "#http/inbox/wire.ts";
import type { InboxStore } from "#web/inbox/inbox-store.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { Button, Icon } from "#web/shared/ui/elements.tsx";
import { fitHeight } from "#web/shared/ui/fit-height.ts";
import { leaveField } from "#web/inbox/ui/focus.ts";
import { shortName, tooLong } from "#web/inbox/ui/labels.ts";
import { MacroOpener } from "./macros.tsx";
import type { SavedReplies } from "./saved-replies.tsx";
import { createSavedReplies, listId, optionId, SavedReplyList, SavedReplyOpener } from "./saved-replies.tsx";
import { focusField } from "./sending.ts";
import { SentText } from "./sent-text.tsx";
import { Tray } from "./tray.tsx";

const isMac = /mac|iphone|ipad/iu.test(navigator.userAgent);
const fieldHeightMax = 260;
const modes = [
  { mode: "reply", label: "Reply", shortcut: "r" },
  { mode: "note", label: "Note", shortcut: "n", shape: "lock" },
] as const;

interface ComposerProps {
  readonly conversation: ConversationView;
}

/** Writes replies, which customers read, and notes, which they never do. The two must look different. */
export function Composer({ conversation }: ComposerProps) {
  const store = useInbox();
  const { drafts, sending, actions, open, team, me } = store;
  const { id, customer } = conversation;
  const field = useRef<HTMLTextAreaElement>(null);
  const saved = useMemo(
    () =>
      createSavedReplies(
        () => team.savedReplies.value,
        () => ({ customer: open.conversation.peek()?.customer.name ?? null, agent: me.agent.name }),
        (text) => sending.write(id, text),
      ),
    [id],
  );
  const isNote = drafts.read(id).mode === "note";
  const { problem, hint } = hintOf(store, conversation);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (open.unseen.value === undefined) sending.submitWhenUploaded(id);
  }

  return (
    <form
      class={isNote ? "composer note-mode" : "composer"}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        void sending.submit();
      }}
    >
      <div class="stale" role="alert">
        {open.unseen.value !== undefined && !isNote && (
          <UnseenQuestion unseen={open.unseen.value} customer={customer.label} />
        )}
      </div>
      <div class="composer-bar">
        <div class="tabs" role="group" aria-label="What to write">
          {modes.map(({ mode, ...look }) => (
            <Button
              key={mode}
              kind="tab"
              {...look}
              aria-pressed={isNote === (mode === "note")}
              onClick={() => sending.choose(mode)}
            />
          ))}
        </div>
        <span class={problem === undefined ? "composer-hint" : "composer-hint over"} id="composer-hint">
          {problem ?? hint}
        </span>
      </div>
      {!isNote && <Answered conversationId={id} />}
      <SavedReplyList saved={saved} field={field} />
      <Field conversation={conversation} saved={saved} field={field} />
      {!isNote && <SentText key={id} conversationId={id} />}
      {!isNote && <Tray conversationId={id} />}
      <div class="composer-foot">
        {team.savedReplies.value.length > 0 && <SavedReplyOpener saved={saved} field={field} />}
        {team.macros.value.length > 0 && <MacroOpener />}
        {!isNote && <AttachButton />}
        <span class="keys-hint">
          <kbd>{isMac ? "⌘" : "Ctrl"}</kbd> <kbd>Enter</kbd>
        </span>
        <button type="submit" class="primary send" disabled={actions.busy.value || !sending.isSendable(id)}>
          <Icon name="send" />
          <span>{isNote ? "Add note" : "Send reply"}</span>
        </button>
      </div>
    </form>
  );
}

interface FieldProps extends ComposerProps {
  readonly saved: SavedReplies;
  readonly field: { current: HTMLTextAreaElement | null };
}

function Field({ conversation: { id, customer }, saved, field }: FieldProps) {
  const { drafts, sending } = useInbox();
  const draft = drafts.read(id);
  const text = draft[draft.mode];
  const isNote = draft.mode === "note";
  useLayoutEffect(() => fitHeight(field.current, fieldHeightMax), [text]);
  return (
    <textarea
      ref={field}
      rows={1}
      dir="auto"
      aria-describedby="composer-hint"
      aria-autocomplete="list"
      aria-haspopup="listbox"
      aria-controls={listId}
      aria-activedescendant={saved.found.value.length > 0 ? optionId(saved.active.value) : undefined}
      aria-label={isNote ? "Internal note" : `Reply to ${customer.label}`}
      placeholder={
        isNote ? "Write a note for your team…" : `Reply to ${shortName(customer.label).replace(/…?$/u, "…")}`
      }
      value={text}
      onInput={({ currentTarget }) => {
        sending.write(id, currentTarget.value);
        saved.look(currentTarget);
      }}
      onClick={({ currentTarget }) => saved.look(currentTarget)}
      onBlur={saved.close}
      onPaste={(event) => {
        if (sending.attach(event.clipboardData?.files)) event.preventDefault();
      }}
      onKeyDown={(event) => {
        if (saved.keyDown(event, event.currentTarget) || event.key !== "Escape") return;
        event.preventDefault();
        leaveField(event.currentTarget);
      }}
    />
  );
}

/** The message that the reply answers. */
function Answered({ conversationId }: { readonly conversationId: string }) {
  const { drafts, sending } = useInbox();
  const { answered } = drafts.read(conversationId);
  if (answered === null) return null;
  return (
    <div class="answered">
      <blockquote class="reference">
        <span class="unseen">In reply to: </span>
        <bdi>{answered.author}</bdi>
        <p dir="auto">{answered.text}</p>
      </blockquote>
      <Button
        label="Reply to no message in particular"
        kind="icon"
        shape="close"
        onClick={() => sending.answer(null)}
      />
    </div>
  );
}

/** Asks what happens to a reply that was held back because messages came in. */
function UnseenQuestion(props: { readonly unseen: readonly MessageView[]; readonly customer: string }) {
  const { open, sending } = useInbox();
  const { unseen, customer } = props;
  const last = unseen.at(-1);
  const name = last?.role === "agent" ? (last.author ?? "A colleague") : customer;
  const keepEditing = (): void => {
    open.unseen.value = undefined;
    focusField();
  };
  return (
    <>
      <p>
        {unseen.length === 1
          ? `${name} wrote while you were writing. Read it before you send?`
          : `${unseen.length} messages came in while you were writing, the last by ${name}. Read them before you send?`}
      </p>
      <Button label="Send anyway" kind="secondary" onClick={() => void sending.submit({ force: true, anyway: true })} />
      <Button label="Keep editing" onClick={keepEditing} />
    </>
  );
}

function AttachButton() {
  const { sending } = useInbox();
  const input = useRef<HTMLInputElement>(null);
  return (
    <span class="attach">
      <Button label="Attach files" kind="icon attach" shape="clip" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          sending.attach(currentTarget.files);
          currentTarget.value = "";
        }}
      />
    </span>
  );
}

/** `problem`: why the text cannot be sent. */
function hintOf(
  { drafts, uploads, sending, me }: InboxStore,
  { id, status, assignee }: ConversationView,
): { readonly problem: string | undefined; readonly hint: string } {
  const draft = drafts.read(id);
  const problem = tooLong(draft[draft.mode]);
  if (draft.mode === "note") return { problem, hint: "Only your team sees notes." };
  if (!uploads.isDone(id)) {
    const isQueued = sending.queued.value === id;
    const hint = isQueued
      ? "The reply is sent when its files are uploaded."
      : "The reply waits for its files: see below.";
    return { problem, hint };
  }
  if (status === "claimed" && assignee !== null && assignee.email !== me.agent.email)
    return { problem, hint: `${assignee.name} has this conversation.` };
  return { problem, hint: status === "open" || status === "escalated" ? "Replying claims the conversation." : "" };
}
