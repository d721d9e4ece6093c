import { signal } from "@preact/signals";
import type { ListItem, View } from "#http/inbox/wire.ts";
import { hashOf } from "#web/inbox/store/address.ts";
import { api } from "#web/inbox/store/api.ts";
import { createDelayed, listEveryMs } from "#web/inbox/store/delayed.ts";
import type { Notices } from "#web/shared/ui/notices.ts";
import { shortName } from "#web/inbox/ui/labels.ts";
import { serverNow } from "#web/shared/ui/time.ts";
import { newsSince, nothingSeen, seenIn } from "./news.ts";
import { createPermission, showNotification } from "./system.ts";

/** The list may be this much older than the server's data. */
const delayMs = 1_000;
/** More news at once are one notification. */
const atOnceMax = 3;

const isAway = (): boolean => document.visibilityState !== "visible" || !document.hasFocus();

/** Tells agents who look elsewhere what waits for them, by the notifications of their system. */
export function createNotifier(agent: string, { problem }: Pick<Notices, "problem">) {
  const permission = createPermission(agent);
  const isOn = signal(permission.isStored() && permission.isGranted());
  /** The list has shown everything until now. */
  const listed = () => nothingSeen(serverNow() - delayMs);
  let seen = listed();
  let away = isAway();
  /** Counts how often the agent has left. */
  let absence = 0;
  let lookedAt = 0;

  // The agent may have withdrawn the permission in the browser.
  const isActive = (): boolean => isOn.value && permission.isGranted();

  function turn(on: boolean): void {
    permission.store(on);
    seen = listed();
    isOn.value = on;
  }

  function show(title: string, body: string, tag: string, hash?: string): void {
    if (showNotification(title, body, tag, hash)) return;
    turn(false);
    permission.isOffered.value = false;
    problem("This browser shows no notifications of pages.");
  }
  const showItem = (view: View, title: string, { id, preview, lastMessageAt }: ListItem): void =>
    show(title, preview?.text ?? "", `${id} ${lastMessageAt}`, hashOf(view, id));

  async function look(): Promise<void> {
    const begun = absence;
    lookedAt = Date.now();
    const [escalated, mine] = await Promise.all([api.list("escalated", ""), api.list("mine", "")]);
    if (begun !== absence || !isAway() || !isActive()) return;
    const { waiting, written } = newsSince(seen, escalated, mine);
    seen = seenIn(escalated, mine);
    const all = [...waiting, ...written];
    if (all.length > atOnceMax) {
      const latest = Math.max(...all.map(({ lastMessageAt }) => lastMessageAt));
      const view = waiting.length > 0 ? "escalated" : "mine";
      show(`${all.length} customers wait for you`, "", `several ${latest}`, hashOf(view));
      return;
    }
    for (const item of waiting) showItem("escalated", `${shortName(item.customer)} waits for a person`, item);
    for (const item of written) showItem("mine", `${shortName(item.customer)} wrote`, item);
  }

  // After an error the news are found the next time. No more often than the list is loaded.
  const lookIfAway = (): void => void (isActive() && isAway() && look().catch(() => undefined));
  const lookSoon = createDelayed(lookIfAway, () => Math.max(delayMs, lookedAt + listEveryMs() - Date.now()));

  /** An agent who leaves has seen what there was. While they look at the inbox nothing is fetched. */
  function checkPresence(): void {
    if (isAway() === away) return;
    away = !away;
    if (!away) return;
    absence += 1;
    seen = listed();
    lookIfAway();
  }

  if (permission.isOffered.value) {
    // The focus changes after its event.
    const soon = (): void => void setTimeout(checkPresence, 0);
    for (const name of ["blur", "focus"]) addEventListener(name, soon);
    document.addEventListener("visibilitychange", soon);
  }

  return {
    isOffered: permission.isOffered,
    isOn,
    async toggle(): Promise<void> {
      if (isActive()) return turn(false);
      if (!(await permission.request())) {
        problem("Your browser shows no notifications of this page: allow them in its settings for this page.");
        return;
      }
      turn(true);
      show("Notifications are on", "You are told here what waits for you while you look elsewhere.", "on");
    },
    /** Call it when something may have changed: news are looked for. */
    onActivity(): void {
      if (!permission.isOffered.value) return;
      checkPresence();
      if (isActive() && away) lookSoon();
    },
    assigned(text: string, conversationId: string): void {
      if (!isActive() || !isAway()) return;
      const showWith = (words: string): void =>
        show(text, words, `${conversationId} assigned`, hashOf("mine", conversationId));
      // Without the customer's words where they cannot be fetched.
      api.list("mine", "").then(
        ({ items }) => showWith(items.find(({ id }) => id === conversationId)?.preview?.text ?? ""),
        () => showWith(""),
      );
    },
  };
}
