import type { ChatMessage } from "../../session/chat-message.ts";
import type { ChatState } from "../../session/chat-state.ts";
import { button, el } from "../dom.ts";
import type { Strings } from "../strings.ts";
import { createDays, startOfDay } from "./days.ts";
import { createGreeting } from "./greeting.ts";
import type { MessageActions } from "./rows.ts";
import { createMessageRows } from "./rows.ts";
import type { LogScroll } from "./scroll.ts";
import { createLogScroll } from "./scroll.ts";
import { createTypingRow } from "./typing.ts";

export interface MessageLog extends Pick<LogScroll, "atEnd" | "toEnd" | "restore"> {
  readonly element: HTMLElement;
  render(state: ChatState): void;
  /** Shows the end, or the beginning of the first unread message where the unread ones are higher than the log. */
  toUnread(state: ChatState): void;
}

/** Messages of one author within this time are one group. */
const groupMs = 5 * 60_000;
/** Screen readers announce new messages, but not older ones that were fetched. */
const silentMs = 1_000;

/** `loadOlder` is called when the customer wants to see earlier messages. */
export function createMessageLog(
  strings: Strings,
  lang: string,
  actions: MessageActions,
  loadOlder: () => void,
): MessageLog {
  const list = el("div", { class: "list" });
  const ended = el("p", { class: "ended" }, strings.endedText);
  const element = el(
    "div",
    {
      class: "log",
      role: "log",
      "aria-live": "polite",
      "aria-relevant": "additions",
      "aria-label": strings.log,
      tabindex: "0",
    },
    list,
  );
  const earlier = button({ class: "again earlier" }, loadOlder, strings.earlier);
  const language = supported(lang);
  const rows = createMessageRows(strings, language, actions);
  const day = createDays(language);
  const greeting = createGreeting();
  const typing = createTypingRow(strings);
  const scroll = createLogScroll(element, list, loadOlder);
  let first: string | undefined;
  let newest: string | undefined;
  let isReplaying = false;
  let lastDrawn = 0;
  let reached = 0;
  let silentTimer: number | undefined;

  const nodesOf = (state: ChatState): HTMLElement[] => {
    const { messages, branding } = state;
    const nodes: HTMLElement[] = [];
    if (state.older === "some" || state.older === "loading") nodes.push(earlier);
    else if (branding !== undefined && branding.greeting !== "") nodes.push(greeting(branding));
    messages.forEach((message, index) => {
      const before = messages[index - 1];
      const after = messages[index + 1];
      const node = rows.row(message, authorOf(message, state, strings));
      if (before === undefined || !isSameDay(before, message)) nodes.push(day(message.createdAt));
      node.classList.toggle("first", before === undefined || !isGrouped(before, message));
      node.classList.toggle("last", after === undefined || !isGrouped(message, after));
      nodes.push(node);
    });
    if (state.status.handledBy === "resolved") nodes.push(ended);
    nodes.push(typing.node);
    return nodes;
  };

  const silence = (): void => {
    clearTimeout(silentTimer);
    element.setAttribute("aria-live", "off");
    silentTimer = window.setTimeout(() => element.setAttribute("aria-live", "polite"), silentMs);
  };

  /** `after`: messages up to this one are not shown again. */
  const toUnread = ({ messages, unread }: ChatState, after = 0): void => {
    scroll.toEnd();
    // The customer has seen what came before their own message, also on another device. One that waits to be sent is last.
    const own = messages.findLastIndex(({ role, seq }) => role === "user" && seq !== null);
    const received = messages.slice(own + 1).filter(({ role, seq }) => role !== "user" && (seq ?? 0) > after);
    const oldest = unread === 0 ? undefined : received.at(-Math.min(unread, received.length));
    const node = oldest && rows.nodeOf(oldest);
    if (node !== undefined && element.scrollHeight - node.offsetTop > element.clientHeight) scroll.toStartOf(node);
  };

  /** Follows the end until the unread messages are higher than the log. */
  const followEnd = (state: ChatState): void => {
    const last = state.messages.at(-1);
    const isJustWritten = last?.key !== newest && last?.role === "user" && last.state === "pending";
    newest = last?.key;
    isReplaying = state.replaying;
    lastDrawn = state.messages.findLast(({ seq }) => seq !== null)?.seq ?? 0;
    if (!scroll.isPinned() && !isJustWritten) return;
    if (state.replaying) scroll.toEnd();
    else toUnread(state, reached);
  };
  const reach = (): void => {
    if (!isReplaying && scroll.atEnd()) reached = lastDrawn;
  };
  element.addEventListener("scroll", reach);

  return {
    element,
    atEnd: scroll.atEnd,
    toEnd() {
      scroll.toEnd();
      reached = lastDrawn;
    },
    restore: scroll.restore,
    toUnread: (state) => toUnread(state),
    render(state) {
      const { messages, older } = state;
      const oldFirst = first;
      first = messages[0]?.key;
      const isPrepended = oldFirst !== undefined && first !== oldFirst && messages.some(({ key }) => key === oldFirst);
      element.setAttribute("aria-busy", String(state.replaying));
      earlier.setAttribute("aria-disabled", String(older === "loading"));
      typing.render(state);
      if (isPrepended) silence();
      // The button must not take the focus with it.
      if (older === "none" && earlier.matches(":focus")) element.focus({ preventScroll: true });
      const draw = (): void => place(list, nodesOf(state));
      if (isPrepended && !scroll.isPinned()) scroll.keepPlace(draw);
      else draw();
      rows.keepOnly(messages);
      followEnd(state);
    },
  };
}

/** Moves only nodes that are not in place: screen readers read a moved node again. */
function place(parent: HTMLElement, nodes: readonly HTMLElement[]): void {
  const wanted = new Set<Node>(nodes);
  for (const child of Array.from(parent.childNodes)) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

function authorOf({ role, author }: ChatMessage, { branding }: ChatState, strings: Strings): string {
  if (role === "user") return strings.you;
  return author ?? (role === "agent" ? strings.agent : (branding?.botName ?? ""));
}

function isGrouped(one: ChatMessage, next: ChatMessage): boolean {
  const isAlike = one.role === next.role && one.author === next.author && one.state !== "failed";
  return isAlike && isSameDay(one, next) && next.createdAt - one.createdAt < groupMs;
}

const isSameDay = (one: ChatMessage, other: ChatMessage): boolean =>
  startOfDay(one.createdAt) === startOfDay(other.createdAt);

function supported(lang: string): string | undefined {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(lang)[0];
  } catch {
    return undefined;
  }
}
