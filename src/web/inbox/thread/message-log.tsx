import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { ConversationView, NoteView } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { Avatar, Button, Icon } from "#web/shared/ui/elements.tsx";
import { TimeOfDay, useRelativeTime } from "#web/shared/ui/clocks.tsx";
import { Content } from "#web/shared/ui/content.tsx";
import { dayName, sameDay } from "#web/shared/ui/time.ts";
import { auditText } from "./audit-text.ts";
import type { Entry } from "./entries.ts";
import { entriesOf, isGroup } from "./entries.ts";
import { createLogScroll } from "./log-scroll.ts";
import { Message } from "./message.tsx";

/** The messages, notes and changes of a conversation. Render another one for another conversation. */
export function MessageLog({ conversation }: { readonly conversation: ConversationView }) {
  const { open, conversationSync, ownReplies } = useInbox();
  const element = useRef<HTMLDivElement>(null);
  const scroll = useMemo(
    () =>
      createLogScroll({
        extend: (to) => void conversationSync.extend(to),
        atEnd: (isAtEnd) => (open.isAtEnd.value = isAtEnd),
      }),
    [],
  );
  // An editor that opens or closes changes the heights, too.
  void ownReplies.editingId.value;
  const { hasEarlier, hasLater } = open.shown.value;
  const request = open.scroll.value;
  const entries = entriesOf(conversation, open.shown.value);
  const afterChange = scroll.beforeChange();
  useLayoutEffect(() => (element.current === null ? undefined : scroll.attach(element.current)), []);
  useLayoutEffect(() => afterChange({ hasEarlier, hasLater, lastSeq: conversation.lastSeq }, request));

  function onKeyDown(event: KeyboardEvent): void {
    if (event.target instanceof HTMLTextAreaElement) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const place = event.key === "Home" && hasEarlier ? "first" : event.key === "End" && hasLater ? "end" : undefined;
    if (place === undefined) return;
    event.preventDefault();
    void conversationSync.jump(place);
  }

  return (
    <div class="middle">
      <div
        class="log"
        role="log"
        aria-live="off"
        aria-label="Messages, notes and events"
        tabIndex={0}
        ref={element}
        onScroll={scroll.onScroll}
        onKeyDown={onKeyDown}
      >
        <div class="entries">
          {hasEarlier && (
            <Button
              key="earlier"
              label="Earlier messages"
              kind="secondary earlier"
              onClick={() => void conversationSync.extend("earlier")}
            />
          )}
          {entries.map((entry, at) => (
            <EntryLine
              key={entry.key}
              entry={entry}
              before={entries[at - 1]}
              after={entries[at + 1]}
              conversation={conversation}
            />
          ))}
          {entries.length === 0 && (
            <p key="none" class="audit">
              There are no messages yet.
            </p>
          )}
          {open.isCustomerTyping.value && !hasLater && <Typing key="typing" name={conversation.customer.label} />}
        </div>
      </div>
      {scroll.toEndLabel.value !== undefined && (
        <Button
          label={scroll.toEndLabel.value}
          kind="newer"
          shape="down"
          onClick={() => void conversationSync.jump("end")}
        />
      )}
    </div>
  );
}

interface EntryLineProps {
  readonly entry: Entry;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
  readonly conversation: ConversationView;
}

/** An entry, below the day if it is the first of that. */
const EntryLine = ({ entry, before, after, conversation: { customer, amendable } }: EntryLineProps) => (
  <>
    {(before === undefined || !sameDay(before.at, entry.at)) && <Day at={entry.at} />}
    {entry.kind === "message" && (
      <Message
        message={entry.message}
        starts={!isGroup(before, entry)}
        ends={!isGroup(entry, after)}
        customer={customer.label}
        amendable={amendable}
      />
    )}
    {entry.kind === "note" && <Note note={entry.note} />}
    {entry.kind === "audit" && <Audit at={entry.at} text={auditText(entry.events)} />}
  </>
);

const Day = ({ at }: { readonly at: number }) => <p class="day">{useRelativeTime(dayName, at)}</p>;

/** Omits changes that another line shows. */
function Audit({ at, text }: { readonly at: number; readonly text: string }) {
  if (text === "") return null;
  return (
    <p class="audit">
      <span dir="auto">{text}</span> <TimeOfDay at={at} />
    </p>
  );
}

const Note = ({ note: { author, content, createdAt } }: { readonly note: NoteView }) => (
  <article class="note">
    <p class="note-head">
      <Icon name="lock" />
      <strong>Internal note</strong>
      <bdi>{author}</bdi>
      <TimeOfDay at={createdAt} />
    </p>
    <Content of={content} kind="note-text" />
  </article>
);

const Typing = ({ name }: { readonly name: string }) => (
  <div class="row user typing" role="status">
    <Avatar name={name} />
    <div class="bubble dots">
      <i />
      <i />
      <i />
      <span class="unseen">{name} is writing</span>
    </div>
  </div>
);
