import { api, Refused } from "./store/api.ts";
import { createComposer } from "./composer/composer.ts";
import { createInboxStore } from "./store/store.ts";
import type { InboxStore, InboxListener } from "./store/state.ts";
import { hashOf } from "./store/state.ts";
import { createDetailsPane } from "./details-pane.ts";
import { createDialogs } from "./ui/dialogs.ts";
import { button, el } from "./ui/dom.ts";
import { createDrafts } from "./store/drafts.ts";
import { createFocusKeeper } from "./ui/focus.ts";
import { createListPane } from "./list/pane.ts";
import { createNotifier } from "./notifier.ts";
import { createThreadPane } from "./thread/pane.ts";
import { setServerTime, tickBadges } from "./ui/time.ts";

const noticeMs = 4_500;
const assignedMs = 20_000;
const undoMs = 10_000;
const leftToRight = "\u200e";
const relativeTimesMs = 30_000;

async function start(root: HTMLElement): Promise<void> {
  const me = await api.me();
  setServerTime(me.now);
  const drafts = createDrafts(me.agent.email, () => listener.changed());
  const notices = el("div", { class: "notices", role: "status", "aria-live": "polite" });
  const heard = el("div", { class: "unseen", role: "log", "aria-live": "polite" });
  const dialogs = createDialogs();
  const layout = el("div", { class: "inbox" });
  let drawing = false;

  const keeper = createFocusKeeper(document.body);
  const show = (node: HTMLElement, ms: number): void => {
    notices.replaceChildren(node);
    setTimeout(() => node.remove(), ms);
  };
  const notice = (text: string, kind: "done" | "problem"): void =>
    show(el("p", { class: `notice ${kind}` }, text), kind === "problem" ? noticeMs * 2 : noticeMs);
  const notifier = createNotifier(me.agent.email, notice);
  const listener: InboxListener = {
    changed() {
      if (drawing) return;
      drawing = true;
      requestAnimationFrame(draw);
    },
    notice,
    resolved(next) {
      const undo = button("Undo", () => void desk.undo(), { kind: "plain", key: "u" });
      show(el("p", { class: "notice done" }, el("span", {}, "Resolved."), " ", undo), undoMs);
      if (next !== undefined) location.hash = hashOf(desk.state().view, next);
    },
    onActivity: notifier.onActivity,
    atEnd: () => thread.atEnd(),
    settled: () => notices.querySelector(".problem")?.remove(),
    arrived(messages, conversation) {
      for (const { role, author } of messages) {
        if (role === "agent" && author === me.agent.name) continue;
        const name = role === "user" ? conversation.customer.label : (author ?? "Assistant");
        heard.replaceChildren(el("p", {}, `New message from ${name}`));
      }
    },
    claimedByOther(name) {
      notice(`${name} already claimed this conversation.`, "problem");
    },
    assigned(text, conversationId) {
      notifier.assigned(text, conversationId);
      const link = el("a", { href: hashOf("mine", conversationId) }, "Open it");
      const node = el("p", { class: "notice done" }, text, " ", link);
      link.addEventListener("click", () => node.remove());
      show(node, assignedMs);
    },
    heldByOther(name) {
      dialogs.held(name, {
        takeOver: () =>
          void desk.act("claim", { takeOver: true }).then((done) => (done ? composer.sendAnyway() : undefined)),
        send: () => void composer.sendAnyway(),
        note: () => void composer.keepAsNote(),
      });
    },
  };
  const desk: InboxStore = createInboxStore(me, drafts, listener);

  const manual = me.hasManual
    ? button("Remove the built-in manual", () => dialogs.removeManual(() => void removeManual()), {
        kind: "secondary remove-manual",
      })
    : undefined;
  async function removeManual(): Promise<void> {
    try {
      await api.removeManual();
      manual?.remove();
      list.focusSearch();
      notice("The built-in manual was removed.", "done");
    } catch (error) {
      if (!(error instanceof Refused)) console.error(error);
      notice(error instanceof Refused ? error.message : "The manual could not be removed.", "problem");
    }
  }

  const toggleDetails = (shown?: boolean): void => {
    layout.classList.toggle("with-details", shown);
  };
  const composer = createComposer(desk, drafts, {
    sent: () => thread.toEnd(),
    left: (field) => keeper.leave(field),
    changed: () => listener.changed(),
  });
  const list = createListPane(desk, drafts, listener, {
    openHelp: () => dialogs.help(),
    bell: notifier.element,
    manual,
  });
  const thread = createThreadPane(desk, composer.element, {
    takeOver: (name) => dialogs.takeOver(name, () => void desk.act("claim", { takeOver: true })),
    takeBack: (customer, take) => dialogs.takeBack(customer, take),
    goneMeanwhile: () => notice("The reply that you were changing was deleted meanwhile.", "problem"),
    details: () => toggleDetails(),
    chooseDate: (conversation, chosen) =>
      dialogs.date(conversation?.startedAt ?? 0, conversation?.lastMessageAt ?? 0, chosen),
  });
  composer.dropsOn(thread.element);
  const details = createDetailsPane(desk, () => toggleDetails(false));
  layout.append(list.element, thread.element, details.element);
  // The list, which names the workspace, is not shown on a phone beside a conversation.
  const heading = el("h1", { class: "unseen" }, `Inbox of ${me.workspace.name}`);
  root.replaceChildren(heading, layout, notices, heard, ...dialogs.elements);

  let shown: string | undefined;
  function draw(): void {
    drawing = false;
    const { selected, counts, conversation } = desk.state();
    layout.classList.toggle("with-thread", selected !== undefined);
    list.render();
    thread.render();
    composer.render();
    details.render();
    const waiting = (counts?.escalated ?? 0) + (counts?.mine ?? 0);
    const count = waiting > 0 ? `(${waiting >= 100 ? "99+" : waiting}) ` : "";
    // A title that begins with a right-to-left name would be shown from right to left as a whole.
    document.title = `${leftToRight}${count}${conversation?.customer.label ?? "Inbox"} · ${me.workspace.name}`;
    if (conversation !== undefined && shown !== conversation.id) {
      shown = conversation.id;
      // On a phone the list is gone now: the focus goes where reading goes on.
      const active = document.activeElement;
      if (!composer.element.contains(active) && !details.element.contains(active)) {
        document.querySelector<HTMLElement>("#thread-title")?.focus({ preventScroll: true });
      }
    }
    if (selected === undefined) shown = undefined;
    keeper.check();
  }

  addEventListener("hashchange", () => {
    toggleDetails(false);
    desk.follow(location.hash);
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      event.target instanceof Element &&
      event.target.closest("input:not([type=checkbox]), textarea, select, dialog, [role=menu]") !== null
    ) {
      if (event.key === "Escape" && event.target instanceof HTMLInputElement) keeper.leave(event.target);
      return;
    }
    const run = keys(event.key);
    if (run === undefined) return;
    event.preventDefault();
    run();
  });

  function keys(key: string): (() => void) | undefined {
    const { conversation, view, selected } = desk.state();
    switch (key) {
      case "j":
        return () => list.step(1);
      case "k":
        return () => list.step(-1);
      case "x":
        return () => list.pick();
      case "/":
        return () => list.focusSearch();
      case "u":
        return () => void desk.undo();
      case "?":
        return () => dialogs.help();
      case "Escape":
        if (layout.classList.contains("with-details")) return () => toggleDetails(false);
        if (list.stopPicking()) return () => undefined;
        return selected === undefined ? undefined : () => void (location.hash = hashOf(view));
      default:
        break;
    }
    if (conversation === undefined) return undefined;
    switch (key) {
      case "a":
        return () => {
          // Beside the conversation, where there is room for it.
          if (details.element.offsetParent === null) toggleDetails(true);
          details.openAssignee();
        };
      case "r":
        return () => composer.focus("reply");
      case "n":
        return () => composer.focus("note");
      case "c":
      case "e":
      case "s":
      case "g":
        // The same buttons that can be pressed: what is not offered cannot be done by its key either.
        return () =>
          thread.element.querySelector<HTMLButtonElement>(`.thread-head [aria-keyshortcuts="${key}"]`)?.click();
      default:
        return undefined;
    }
  }

  setInterval(tickBadges, 1_000);
  setInterval(() => listener.changed(), relativeTimesMs);
  desk.start(location.hash);
  listener.changed();
}

const root = document.querySelector<HTMLElement>("#inbox");
if (root !== null) {
  start(root).catch((error: unknown) => {
    console.error(error);
    const again = el("a", { class: "primary", href: "/inbox" }, "Load again");
    const text = error instanceof Error ? error.message : "The inbox could not be started.";
    root.replaceChildren(
      el(
        "div",
        { class: "door" },
        el(
          "div",
          { class: "card", role: "alert" },
          el("h1", {}, "The inbox could not be loaded"),
          el("p", {}, text),
          again,
        ),
      ),
    );
  });
}
