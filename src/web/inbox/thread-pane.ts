import { channelNames } from "#domain/message.ts";
import type { ConversationView, MessageView, NoteView, AuditView } from "../../http/inbox/wire.ts";
import { blocks, sources } from "./content.ts";
import type { Desk, DeskState } from "./desk.ts";
import { hashOf } from "./desk.ts";
import { avatar, button, createKept, el, icon, place } from "./dom.ts";
import { fileList } from "./files.ts";
import { createMenu } from "./menu.ts";
import { changingMark, createOwnReplies } from "./own-reply.ts";
import { countdown, dateAndTime, dayName, sameDay, serverNow, slaBadge, timeOfDay, tomorrowAtNine } from "./time.ts";
import { auditText, beginning, deliveryNames, emptyViews, snoozeText, statusNames } from "./words.ts";

export interface ThreadPane {
  readonly element: HTMLElement;
  render(): void;
  toEnd(): void;
}

type Entry =
  | { readonly kind: "message"; readonly at: number; readonly message: MessageView }
  | { readonly kind: "note"; readonly at: number; readonly note: NoteView }
  | { readonly kind: "audit"; readonly at: number; readonly events: readonly AuditView[] };

const nearEndPx = 90;
/** Messages this close together, of the same author, are one group. */
const groupMs = 5 * 60_000;

export function createThreadPane(
  desk: Desk,
  composer: HTMLElement,
  on: {
    readonly takeOver: (name: string) => void;
    readonly takeBack: (customer: string, take: () => void) => void;
    readonly goneMeanwhile: () => void;
    readonly details: () => void;
  },
): ThreadPane {
  const head = el("header", { class: "thread-head" });
  const list = el("div", { class: "entries" });
  const log = el(
    "div",
    { class: "log", role: "log", "aria-live": "off", "aria-label": "Messages, notes and events", tabindex: "0" },
    list,
  );
  const newer = button("New messages", () => toEnd(), { kind: "newer", shape: "down" });
  const middle = el("div", { class: "middle" }, log, newer);
  const reach = el("p", { class: "unreachable", role: "status" });
  const window = el("p", { class: "reply-window", role: "status" });
  const blank = el("div", { class: "blank" });
  const element = el(
    "section",
    { class: "thread-pane", "aria-label": "Conversation" },
    head,
    middle,
    reach,
    window,
    composer,
    blank,
  );
  const kept = createKept();
  const ownReplies = createOwnReplies(desk, { ...on, redraw: () => render() });
  let pinned = true;
  let shown: string | undefined;
  let newestSeq = 0;

  const atEnd = (): boolean => log.scrollHeight - log.scrollTop - log.clientHeight < nearEndPx;
  const toEnd = (): void => {
    log.scrollTop = log.scrollHeight;
    pinned = true;
    newer.hidden = true;
  };
  newer.hidden = true;
  let top = 0;
  log.addEventListener("scroll", () => {
    // Who scrolls up leaves the end; what grows at the end, as a picture does that comes late, takes nobody away from it.
    pinned = atEnd() || (pinned && log.scrollTop >= top);
    top = log.scrollTop;
    if (pinned) newer.hidden = true;
  });
  const sizes = new ResizeObserver(() => {
    if (pinned) toEnd();
  });
  sizes.observe(log);
  sizes.observe(list);

  const snooze = createMenu("Snooze", { shape: "clock", key: "s" }, () => [
    { label: "For an hour", choose: () => void desk.act("snooze", { until: serverNow() + 3_600_000 }) },
    { label: "Until tomorrow, 9:00", choose: () => void desk.act("snooze", { until: tomorrowAtNine() }) },
    { label: "Until the customer replies", choose: () => void desk.act("snooze") },
  ]);

  const actions = (conversation: ConversationView, me: string): Node[] => {
    const { status, assignee } = conversation;
    const claim = kept("claim", [], () => button("Claim", () => void desk.act("claim"), { kind: "primary", key: "c" }));
    const resolve = (kind: string) =>
      kept(`resolve ${kind}`, [], () =>
        button("Resolve", () => void desk.act("resolve"), { kind, shape: "check", key: "e" }),
      );
    const reopen = (label: string) =>
      kept(`reopen ${label}`, [], () => button(label, () => void desk.act("reopen"), { kind: "primary" }));
    switch (status) {
      case "open":
      case "escalated":
        return [claim, snooze.element, resolve("secondary")];
      case "claimed":
        return assignee?.email === me
          ? [
              resolve("primary"),
              snooze.element,
              kept("release", [], () => button("Release", () => void desk.act("release"), { kind: "secondary" })),
            ]
          : [
              kept("take", assignee, () =>
                button("Take over", () => on.takeOver(assignee?.name ?? "somebody"), { kind: "secondary" }),
              ),
              snooze.element,
              resolve("secondary"),
            ];
      case "snoozed":
        return [reopen("Wake"), resolve("secondary")];
      case "resolved":
        return [
          reopen("Reopen"),
          kept("archive", [], () => button("Archive", () => void desk.act("archive"), { kind: "secondary" })),
        ];
      case "archived":
        return [reopen("Reopen")];
    }
  };

  const back = button("Back to the list", () => void (location.hash = hashOf(desk.state().view)), {
    kind: "icon back",
    shape: "back",
    iconOnly: true,
  });
  const details = button("Details", on.details, { kind: "icon details-button", shape: "panel", iconOnly: true });
  const title = el("div", { class: "thread-title" });
  const bar = el("div", { class: "actions" });
  place(head, [back, title, bar, details]);

  const drawTitle = (conversation: ConversationView): Node[] => {
    const { customer, status, assignee, channel, sla, snoozedUntil } = conversation;
    return [
      kept("title", [conversation.id, customer, status, assignee, channel, sla, snoozedUntil], () =>
        el(
          "div",
          { class: "thread-name" },
          avatar(customer.label),
          el(
            "div",
            {},
            el("h2", { dir: "auto", tabindex: "-1", id: "thread-title", title: customer.label }, customer.label),
            el(
              "p",
              { class: "marks" },
              el(
                "span",
                { class: `status ${status}` },
                status === "snoozed" ? snoozeText(snoozedUntil) : statusNames[status],
              ),
              assignee !== null && status === "claimed" && el("span", { class: "assignee" }, assignee.name),
              sla.runningSince !== null && slaBadge(sla, "SLA "),
              el("span", { class: "channel" }, channelNames[channel]),
            ),
          ),
        ),
      ),
    ];
  };

  function render(): void {
    const state = desk.state();
    const { conversation, selected } = state;
    const present = conversation !== undefined;
    head.hidden = !present;
    middle.hidden = !present;
    composer.hidden = !present || conversation.status === "archived";
    reach.hidden = (conversation?.unreachable ?? null) === null;
    if (reach.textContent !== (conversation?.unreachable ?? "")) reach.textContent = conversation?.unreachable ?? "";
    drawWindow(conversation);
    blank.hidden = present;
    element.classList.toggle("busy", state.busy);
    if (conversation === undefined) {
      shown = undefined;
      newer.hidden = true;
      place(blank, [kept("blank", [selected, state.failure, state.view], () => drawBlank(state))]);
      return;
    }
    place(title, drawTitle(conversation));
    place(bar, actions(conversation, state.me.agent.email));
    const first = shown !== conversation.id;
    const bottom = log.scrollHeight - log.scrollTop;
    const lastSeq = conversation.lastSeq;
    const earliest = state.earlier[0]?.seq;
    place(list, drawEntries(state, conversation));
    if (first) {
      shown = conversation.id;
      newestSeq = lastSeq;
      log.dataset["earliest"] = "";
      toEnd();
    } else if (String(earliest ?? "") !== log.dataset["earliest"]) {
      // What is read stays where it is when earlier messages come in above it.
      log.scrollTop = log.scrollHeight - bottom;
    } else if (pinned) {
      toEnd();
    } else if (lastSeq > newestSeq) {
      newer.hidden = false;
    }
    log.dataset["earliest"] = String(earliest ?? "");
    newestSeq = lastSeq;
  }

  function drawWindow(conversation: ConversationView | undefined): void {
    const given = conversation?.window ?? null;
    window.hidden = given === null || (conversation?.unreachable ?? null) !== null;
    if (given === null) return;
    const drawn = JSON.stringify([conversation?.id, given]);
    if (window.dataset["drawn"] === drawn) return;
    window.dataset["drawn"] = drawn;
    window.classList.toggle("closed", !given.isOpen);
    window.replaceChildren(
      ...(given.isOpen && given.closesAt !== null
        ? ["Free replies: ", countdown(given.closesAt)]
        : [icon("alert"), el("span", {}, given.closed ?? "")]),
    );
  }

  function drawEntries(state: DeskState, conversation: ConversationView): Node[] {
    const messages = [...state.earlier, ...conversation.messages];
    const from = state.hasEarlier ? (messages[0]?.createdAt ?? 0) : 0;
    const single: Entry[] = [
      ...conversation.audit.map((event) => ({ kind: "audit", at: event.createdAt, events: [event] }) as const),
      ...messages.map((message) => ({ kind: "message", at: message.createdAt, message }) as const),
      ...conversation.notes.map((note) => ({ kind: "note", at: note.createdAt, note }) as const),
    ]
      .filter(({ at }) => at >= from)
      .toSorted((a, b) => a.at - b.at || rank(a) - rank(b));
    const entries = gather(single);
    const nodes: Node[] = [];
    if (state.hasEarlier)
      nodes.push(
        kept("earlier", [], () => button("Earlier messages", () => void desk.earlier(), { kind: "secondary earlier" })),
      );
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
                drawMessage(
                  message,
                  conversation.customer.label,
                  starts,
                  ends,
                  ownReplies.tools(message, conversation),
                ),
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
    if (state.customerTyping) {
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

  return { element, render, toEnd };
}

function drawBlank({ selected, failure, view }: DeskState): HTMLElement {
  if (failure !== undefined && selected !== undefined) {
    return el(
      "div",
      { class: "empty", role: "alert" },
      icon("alert"),
      el("p", { class: "empty-title" }, "This conversation cannot be shown"),
      el("p", {}, failure),
      el("a", { class: "secondary", href: hashOf(view) }, "Back to the list"),
    );
  }
  if (selected !== undefined)
    return el("div", { class: "skeleton wide", "aria-label": "Loading" }, el("i"), el("i"), el("i"));
  return el(
    "div",
    { class: "empty" },
    icon("chat"),
    el("p", { class: "empty-title" }, "Choose a conversation"),
    el("p", {}, emptyViews[view][1]),
    el(
      "p",
      { class: "keys-hint" },
      el("kbd", {}, "j"),
      " ",
      el("kbd", {}, "k"),
      " to move, ",
      el("kbd", {}, "Enter"),
      " to open, ",
      el("kbd", {}, "?"),
      " for all shortcuts",
    ),
  );
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

/** What the same person did within a minute is one entry. */
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
