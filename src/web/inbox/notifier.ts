import type { ListItem, View } from "#http/inbox/wire.ts";
import { api } from "./store/api.ts";
import type { InboxListener } from "./store/state.ts";
import { hashOf, listEveryMs } from "./store/state.ts";
import { button } from "./ui/dom.ts";
import { serverNow } from "./ui/time.ts";
import { shortName } from "./ui/labels.ts";

/** Tells agents who look elsewhere what waits for them, by the notifications of their system. */
export interface Notifier {
  /** Turns it on and off; undefined where the browser has none for this page. */
  readonly element: HTMLElement | undefined;
  /** Something may have changed: what is new for this agent is looked for. */
  onActivity(): void;
  assigned(text: string, conversationId: string): void;
}

interface SeenCounts {
  readonly waiting: ReadonlySet<string>;
  /** Nobody else waited than those, who are the latest. */
  readonly isAll: boolean;
  readonly mine: ReadonlyMap<string, number>;
  readonly at: number;
}

/** So late the list may show what the server has. */
const delayMs = 1_000;
/** More at once are told as one. */
const atOnceMax = 3;

export function createNotifier(agent: string, notice: InboxListener["notice"]): Notifier {
  const key = `parley.inbox.notify.${agent}`;
  // Pages without encryption get none, and some phones none at all.
  const offered = "Notification" in window && window.isSecureContext;
  let wanted = offered && localStorage.getItem(key) === "on";
  const isAway = (): boolean => document.visibilityState !== "visible" || !document.hasFocus();
  /** What the list has shown until now. */
  const nothing = (): SeenCounts => ({ waiting: new Set(), isAll: false, mine: new Map(), at: serverNow() - delayMs });
  let known = nothing();
  let away = isAway();
  /** Counts how often the agent has left. */
  let absence = 0;
  let lookedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const bell = button("Notifications", () => void toggle(), { kind: "icon bell", shape: "bell", iconOnly: true });

  const isOn = (): boolean => wanted && Notification.permission === "granted";
  const draw = (): void => {
    if (!offered) return;
    bell.setAttribute("aria-pressed", String(isOn()));
    bell.title = `Notifications are ${isOn() ? "on" : "off"}`;
  };

  function turn(on: boolean): void {
    wanted = on;
    known = nothing();
    try {
      localStorage.setItem(key, on ? "on" : "off");
    } catch {
      // It is so for as long as the page is open.
    }
    draw();
  }

  async function toggle(): Promise<void> {
    if (isOn()) return turn(false);
    if ((await Notification.requestPermission()) !== "granted") {
      notice("Your browser shows no notifications of this page: allow them in its settings for this page.", "problem");
      return;
    }
    turn(true);
    show("Notifications are on", "You are told here what waits for you while you look elsewhere.", "on");
  }

  /** Every window says the same, and the system shows what has the same mark once. */
  function show(title: string, body: string, mark: string, hash?: string): void {
    try {
      const notification = new Notification(title, { body, tag: `parley ${mark}` });
      notification.addEventListener("click", () => {
        window.focus();
        if (hash !== undefined) location.hash = hash;
        notification.close();
      });
    } catch {
      // Browsers of phones have the means, and refuse them to pages.
      turn(false);
      bell.hidden = true;
      notice("This browser shows no notifications of pages.", "problem");
    }
  }

  const tell = (view: View, title: string, { id, preview, lastMessageAt }: ListItem): void =>
    show(title, preview?.text ?? "", `${id} ${lastMessageAt}`, hashOf(view, id));

  async function look(): Promise<void> {
    const asked = absence;
    lookedAt = Date.now();
    const [escalated, mine] = await Promise.all([api.list("escalated", ""), api.list("mine", "")]);
    if (asked !== absence || !isAway() || !isOn()) return;
    const before = known;
    known = {
      waiting: new Set(escalated.items.map(({ id }) => id)),
      isAll: escalated.nextCursor === null,
      mine: new Map(mine.items.map(({ id, lastMessageAt }) => [id, lastMessageAt])),
      at: Math.min(escalated.now, mine.now),
    };
    // Where more waited than were seen, one of those may only have moved up.
    const waiting = escalated.items.filter(
      ({ id, lastMessageAt }) => !before.waiting.has(id) && (before.isAll || lastMessageAt >= before.at),
    );
    const written = mine.items.filter(
      ({ id, lastRole, lastMessageAt }) => lastRole === "user" && lastMessageAt > (before.mine.get(id) ?? before.at),
    );
    const all = [...waiting, ...written];
    if (all.length > atOnceMax) {
      const latest = Math.max(...all.map(({ lastMessageAt }) => lastMessageAt));
      const view = waiting.length > 0 ? "escalated" : "mine";
      show(`${all.length} customers wait for you`, "", `several ${latest}`, hashOf(view));
      return;
    }
    for (const item of waiting) tell("escalated", `${shortName(item.customer)} waits for a person`, item);
    for (const item of written) tell("mine", `${shortName(item.customer)} wrote`, item);
  }

  /** Whoever leaves has seen what there was; whoever looks at the inbox needs nothing told, and nothing is asked for. */
  function comeOrGo(): void {
    if (isAway() === away) return;
    away = !away;
    if (!away) return;
    absence += 1;
    known = nothing();
    if (isOn()) look().catch(() => undefined);
  }

  /** No more often than the list. */
  function onActivity(): void {
    if (!offered) return;
    comeOrGo();
    if (!isOn() || !away) return;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        // What could not be asked for now is found the next time.
        if (isOn() && isAway()) look().catch(() => undefined);
      },
      Math.max(delayMs, lookedAt + listEveryMs() - Date.now()),
    );
  }

  if (offered) {
    // The focus is gone, or there, after its event.
    const soon = (): void => void setTimeout(comeOrGo, 0);
    addEventListener("blur", soon);
    addEventListener("focus", soon);
    document.addEventListener("visibilitychange", soon);
  }
  draw();
  return {
    element: offered ? bell : undefined,
    onActivity,
    assigned(text, conversationId) {
      if (!offered || !isOn() || !isAway()) return;
      const tellWith = (words: string): void =>
        show(text, words, `${conversationId} assigned`, hashOf("mine", conversationId));
      // It is told without the words where they cannot be fetched.
      api.list("mine", "").then(
        ({ items }) => tellWith(items.find(({ id }) => id === conversationId)?.preview?.text ?? ""),
        () => tellWith(""),
      );
    },
  };
}
