import type { AuditView, ConversationView, MessageView, NoteView } from "#http/inbox/wire.ts";
import { blocks, sources } from "./content.ts";
import type { InboxState } from "#web/inbox/store/state.ts";
import type { KeptNodes } from "#web/inbox/ui/dom.ts";
import { avatar, button, el, icon } from "#web/inbox/ui/dom.ts";
import { fileList } from "#web/inbox/composer/files.ts";
import type { OwnReplies } from "./own-replies.ts";
import { changingMark } from "./own-replies.ts";
import { dateAndTime, dayName, sameDay, timeOfDay } from "#web/inbox/ui/time.ts";
import { auditText, beginning, deliveryNames } from "#web/inbox/ui/labels.ts";

type Entry =
  | { readonly kind: "message"; readonly at: number; readonly message: MessageView }
  | { readonly kind: "note"; readonly at: number; readonly note: NoteView }
  | { readonly kind: "audit"; readonly at: number; readonly events: readonly AuditView[] };

/** Messages this close together, of the same author, are one group. */
const groupMs = 5 * 60_000;

/** The messages, notes and events that are shown, as nodes; those that have not changed are the same nodes. */
export function drawEntries(
  { reading, customerTyping }: InboxState,
  conversation: ConversationView,
  kept: KeptNodes,
  ownReplies: OwnReplies,
  earlier: () => void,
): Node[] {
  const { messages, hasEarlier, hasLater } = reading;
  const from = hasEarlier ? (messages[0]?.createdAt ?? 0) : 0;
  const to = hasLater ? (messages.at(-1)?.createdAt ?? 0) : Infinity;
  const single: Entry[] = [
    ...conversation.audit.map((event) => ({ kind: "audit", at: event.createdAt, events: [event] }) as const),
    ...messages.map((message) => ({ kind: "message", at: message.createdAt, message }) as const),
    ...conversation.notes.map((note) => ({ kind: "note", at: note.createdAt, note }) as const),
  ]
    .filter(({ at }) => at >= from && at <= to)
    .toSorted((a, b) => a.at - b.at || rank(a) - rank(b));
  const entries = gather(single);
  const nodes: Node[] = [];
  if (hasEarlier)
    nodes.push(kept("earlier", [], () => button("Earlier messages", earlier, { kind: "secondary earlier" })));
  entries.forEach((entry, index) => {
    const before = entries[index - 1];
    const after = entries[index + 1];
    if (before === undefined || !sameDay(before.at, entry.at)) {
      const name = dayName(entry.at);
      nodes.push(kept(`day ${new Date(entry.at).toDateString()}`, name, () => el("p", { class: "day" }, name)));
    }
    switch (entry.kind) {
      case "message": {
        const { message } = entry;
        const starts = !(before?.kind === "message" && together(before.message, message));
        const ends = !(after?.kind === "message" && together(message, after.message));
        const editor = ownReplies.editor(message);
        nodes.push(
          editor ??
            kept(message.id, [message, starts, ends, conversation.amendable], () =>
              drawMessage(message, conversation.customer.label, starts, ends, ownReplies.tools(message, conversation)),
            ),
        );
        break;
      }
      case "note":
        nodes.push(kept(entry.note.id, entry.note, () => drawNote(entry.note)));
        break;
      case "audit": {
        const text = auditText(entry.events);
        if (text !== "") nodes.push(kept(entry.events[0]?.id ?? "", text, () => drawAudit(text, entry.at)));
        break;
      }
    }
  });
  if (entries.length === 0)
    nodes.push(kept("none", [], () => el("p", { class: "audit" }, "There are no messages yet.")));
  if (customerTyping && !hasLater) {
    const name = conversation.customer.label;
    nodes.push(
      kept("typing", name, () =>
        el(
          "div",
          { class: "row user typing", role: "status" },
          avatar(name),
          el(
            "div",
            { class: "bubble dots" },
            el("i"),
            el("i"),
            el("i"),
            el("span", { class: "unseen" }, `${name} is writing`),
          ),
        ),
      ),
    );
  }
  return nodes;
}

function drawMessage(
  message: MessageView,
  customer: string,
  starts: boolean,
  ends: boolean,
  tools: readonly HTMLElement[],
): HTMLElement {
  const { role, author, createdAt, confidence, delivery } = message;
  const name = role === "user" ? customer : (author ?? (role === "assistant" ? "Assistant" : "Agent"));
  const bubble = message.deleted
    ? el(
        "div",
        { class: "bubble gone" },
        el("p", {}, role === "user" ? "The customer deleted this message." : "This reply was deleted."),
      )
    : el("div", { class: "bubble", dir: "auto" }, ...blocks(message.content));
  const files = message.deleted ? undefined : fileList(message.files);
  const trouble = delivery?.state === "failed" || delivery?.state === "unknown";
  const facts = el(
    "div",
    { class: "meta" },
    el("bdi", { title: name }, name),
    role === "assistant" && el("span", { class: "tag-bot" }, "bot"),
    el("time", { datetime: new Date(createdAt).toISOString(), title: dateAndTime(createdAt) }, timeOfDay(createdAt)),
    message.edited && !message.deleted && el("span", {}, "edited"),
    confidence !== null &&
      el(
        "span",
        { class: `confidence ${confidence}`, title: "How sure the assistant was of this answer" },
        el("span", { class: "bars", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
        `${confidence} confidence`,
      ),
    delivery !== null &&
      !trouble &&
      !message.deleted &&
      message.changing === null &&
      el("span", { class: `delivery ${delivery.state}` }, deliveryNames[delivery.state]),
    changingMark(message),
    ...tools,
  );
  return el(
    "article",
    {
      class: `row ${role === "user" ? "user" : role === "agent" ? "agent" : "bot"}${starts ? " first" : ""}${ends || trouble || confidence !== null ? " last" : ""}`,
    },
    role === "assistant"
      ? el("span", { class: "avatar bot", "aria-hidden": "true" }, icon("spark", true))
      : avatar(name),
    el(
      "div",
      { class: "body" },
      el("span", { class: "unseen" }, `${name}: `),
      (message.content.length > 0 || message.deleted || files === undefined) && bubble,
      files,
      role === "assistant" && sources(message.sources),
      trouble &&
        el(
          "p",
          { class: `trouble ${delivery.state}` },
          icon("alert"),
          el(
            "span",
            {},
            el("strong", {}, deliveryNames[delivery.state]),
            delivery.error === null ? "" : ` · ${reasonOf(delivery.error)}`,
          ),
        ),
      facts,
    ),
  );
}

/** What the label beside it does not say already. */
const reasonOf = (error: string): string =>
  error.replace(/^This message (?:could not be delivered|may not have arrived)(?:: |, and is )/u, "");

function drawNote({ author, content, createdAt }: NoteView): HTMLElement {
  return el(
    "article",
    { class: "note" },
    el(
      "p",
      { class: "note-head" },
      icon("lock"),
      el("strong", {}, "Internal note"),
      el("bdi", {}, author),
      el("time", { datetime: new Date(createdAt).toISOString(), title: dateAndTime(createdAt) }, timeOfDay(createdAt)),
    ),
    el("div", { class: "note-text", dir: "auto" }, ...blocks(content)),
  );
}

function drawAudit(text: string, at: number): HTMLElement {
  return el(
    "p",
    { class: "audit" },
    el("span", { dir: "auto" }, text),
    " ",
    el("time", { datetime: new Date(at).toISOString(), title: dateAndTime(at) }, timeOfDay(at)),
  );
}

/** At one moment: a question, what it caused, and what was said then. */
function rank(entry: Entry): number {
  switch (entry.kind) {
    case "audit":
      return entry.events.some(beginning) ? 0 : 2;
    case "message":
      return entry.message.role === "user" ? 1 : 3;
    case "note":
      return 4;
  }
}

/** Joins events of one person within a minute. */
function gather(entries: readonly Entry[]): Entry[] {
  const gathered: Entry[] = [];
  for (const entry of entries) {
    const last = gathered.at(-1);
    if (
      entry.kind === "audit" &&
      last?.kind === "audit" &&
      entry.at - last.at <= 60_000 &&
      sameActor(last.events[0], entry.events[0])
    ) {
      gathered[gathered.length - 1] = { kind: "audit", at: last.at, events: [...last.events, ...entry.events] };
    } else gathered.push(entry);
  }
  return gathered;
}

const sameActor = (one: AuditView | undefined, other: AuditView | undefined): boolean =>
  one?.actor === other?.actor && one?.automatic === other?.automatic;

function together(one: MessageView, next: MessageView): boolean {
  return (
    one.role === next.role &&
    one.author === next.author &&
    next.createdAt - one.createdAt < groupMs &&
    sameDay(one.createdAt, next.createdAt)
  );
}
