import { channelNames } from "#domain/conversation/message.ts";
import type { ConversationView } from "#http/inbox/wire.ts";
import type { InboxStore, InboxState } from "#web/inbox/store/state.ts";
import { hashOf } from "#web/inbox/store/state.ts";
import { avatar, button, createKept, el, icon, place } from "#web/inbox/ui/dom.ts";
import { createMenu } from "#web/inbox/ui/menu.ts";
import { createMessageLog } from "./message-log.ts";
import { createOwnReplies } from "./own-replies.ts";
import { openingShortcuts, shortcutList } from "#web/inbox/ui/shortcuts.ts";
import { drawEntries } from "./entries.ts";
import { countdown, serverNow, slaBadge, tomorrowAtNine } from "#web/inbox/ui/time.ts";
import { snoozeText, statusNames } from "#web/inbox/ui/labels.ts";

export interface ThreadPane {
  readonly element: HTMLElement;
  render(): void;
  atEnd(): boolean;
  toEnd(): void;
}

/** Fewer messages are scrolled through at once. */
const longFrom = 30;

export function createThreadPane(
  store: InboxStore,
  composer: HTMLElement,
  on: {
    readonly takeOver: (name: string) => void;
    readonly takeBack: (customer: string, take: () => void) => void;
    readonly goneMeanwhile: () => void;
    readonly details: () => void;
    /** Asks for a day; `chosen` is given its beginning. */
    readonly chooseDate: (conversation: ConversationView | undefined, chosen: (at: number) => void) => void;
  },
): ThreadPane {
  const head = el("header", { class: "thread-head" });
  const log = createMessageLog({
    extend: (to) => void store.extend(to),
    jump: (to) => void jump(to),
  });
  const middle = log.element;
  const reach = el("p", { class: "unreachable", role: "status" });
  const window = el("p", { class: "reply-window", role: "status" });
  const blank = el("div", { class: "blank" });
  const element = el(
    "section",
    { class: "thread-pane", "aria-label": "Conversation", tabindex: "-1" },
    head,
    middle,
    reach,
    window,
    composer,
    blank,
  );
  const kept = createKept();
  const entries = createKept();
  const ownReplies = createOwnReplies(store, { ...on, redraw: () => render() });

  async function jump(to: Parameters<InboxStore["jump"]>[0], { focus = true } = {}): Promise<void> {
    const { reading } = store.state();
    const isHeld = (to === "first" && !reading.hasEarlier) || (to === "end" && !reading.hasLater);
    if (!isHeld && !(await store.jump(to))) return;
    if (to === "end") {
      render();
      log.toEnd();
      if (focus) log.focus();
    } else {
      log.startAtTop();
      render();
    }
  }
  const goTo = createMenu("Go to", { shape: "calendar", key: "g", kind: "icon", iconOnly: true }, () => [
    { label: "First message", choose: () => void jump("first") },
    { label: "A date…", choose: () => on.chooseDate(store.state().conversation, (at) => void jump({ at })) },
    { label: "Latest message", choose: () => void jump("end") },
  ]);

  const snooze = createMenu("Snooze", { shape: "clock", key: "s" }, () => [
    { label: "For an hour", choose: () => void store.act("snooze", { until: serverNow() + 3_600_000 }) },
    { label: "Until tomorrow, 9:00", choose: () => void store.act("snooze", { until: tomorrowAtNine() }) },
    { label: "Until the customer replies", choose: () => void store.act("snooze") },
  ]);

  const actions = (conversation: ConversationView, me: string): Node[] => {
    const { status, assignee } = conversation;
    const claim = kept("claim", [], () =>
      button("Claim", () => void store.act("claim"), { kind: "primary", key: "c" }),
    );
    const resolve = (kind: string) =>
      kept(`resolve ${kind}`, [], () =>
        button("Resolve", () => void store.act("resolve"), { kind, shape: "check", key: "e" }),
      );
    const reopen = (label: string) =>
      kept(`reopen ${label}`, [], () => button(label, () => void store.act("reopen"), { kind: "primary" }));
    switch (status) {
      case "open":
      case "escalated":
        return [claim, snooze.element, resolve("secondary")];
      case "claimed":
        return assignee?.email === me
          ? [
              resolve("primary"),
              snooze.element,
              kept("release", [], () => button("Release", () => void store.act("release"), { kind: "secondary" })),
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
          kept("archive", [], () => button("Archive", () => void store.act("archive"), { kind: "secondary" })),
        ];
      case "archived":
        return [reopen("Reopen")];
    }
  };

  const back = button("Back to the list", () => void (location.hash = hashOf(store.state().view)), {
    kind: "icon back",
    shape: "back",
    iconOnly: true,
  });
  const details = button("Details", on.details, { kind: "icon details-button", shape: "panel", iconOnly: true });
  const title = el("div", { class: "thread-title" });
  const bar = el("div", { class: "actions" });
  place(head, [back, title, bar, goTo.element, details]);

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
    const state = store.state();
    const { conversation, selected } = state;
    const present = conversation !== undefined;
    kept.prune();
    head.hidden = !present;
    middle.hidden = !present;
    composer.hidden = !present || conversation.status === "archived";
    reach.hidden = (conversation?.unreachable ?? null) === null;
    if (reach.textContent !== (conversation?.unreachable ?? "")) reach.textContent = conversation?.unreachable ?? "";
    drawWindow(conversation);
    blank.hidden = present;
    element.classList.toggle("busy", state.busy);
    if (conversation === undefined) {
      place(blank, [kept("blank", [selected, state.failure, state.view, isListEmpty(state)], () => drawBlank(state))]);
      return;
    }
    place(title, drawTitle(conversation));
    const { hasEarlier, hasLater } = state.reading;
    const isLong = hasEarlier || hasLater || state.reading.messages.length > longFrom;
    place(bar, actions(conversation, state.me.agent.email));
    goTo.element.hidden = !isLong;
    const nodes = drawEntries(state, conversation, entries, ownReplies, () => void store.extend("earlier"));
    entries.prune();
    log.place(nodes, { conversationId: conversation.id, hasEarlier, hasLater, lastSeq: conversation.lastSeq });
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

  return { element, render, atEnd: log.atEnd, toEnd: () => void jump("end", { focus: false }) };
}

const isListEmpty = ({ list, items }: InboxState): boolean => list === "ready" && items.length === 0;

function drawBlank(state: InboxState): HTMLElement {
  const { selected, failure, view } = state;
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
    el("p", { class: "empty-title" }, isListEmpty(state) ? "Nothing to open here" : "Choose a conversation"),
    el(
      "p",
      {},
      isListEmpty(state)
        ? "New conversations appear in the list by themselves. Other views, such as All, may have more."
        : "Open a conversation from the list to read it, reply to the customer, or resolve it.",
    ),
    shortcutList(openingShortcuts),
  );
}
