import type { WebClient } from "@slack/web-api";
import type { ChannelHost } from "#channels/contract.ts";
import type { TypingParty } from "#channels/thread.ts";
import type { SlackApi } from "../client.ts";
import type { EventEnvelope } from "../deliveries/payloads.ts";
import { failureOf } from "../errors.ts";
import { parseThread, threadOf } from "./thread.ts";

/** Threads of the assistant view, in which a customer writes to an AI app. */
export interface AssistantThreads {
  /** Takes `assistant_thread_started`. Resolves when the thread is stored as one of the view. */
  started(envelope: EventEnvelope): Promise<void>;
  /** Names the thread after its first question. A failure loses nothing. */
  title(thread: string, question: string): Promise<void>;
  /** Shows the status until the next message, or for two minutes. Makes no call in other threads. */
  status(thread: string, who: TypingParty): Promise<void>;
}

const keptMs = 90 * 86_400_000;
/** The delivery is acknowledged after the call, for which Slack waits three seconds. */
const callMs = 1_000;
const titleMax = 80;

const keyOf = (thread: string): string => `assistant:${thread}`;
const isNew = "new";
const isNamed = "named";

export function createAssistantThreads(
  api: SlackApi,
  { state, log }: Pick<ChannelHost, "state" | "log">,
): AssistantThreads {
  let isLogged = false;

  /** Runs an optional call: apps of an earlier manifest lack the scope, and work without it. */
  async function attempt(call: (client: WebClient) => Promise<unknown>): Promise<void> {
    try {
      await call(api.within(callMs));
    } catch (error) {
      if (!isLogged) log.info({ failure: failureOf(error) }, "slack: updating an assistant thread failed");
      isLogged = true;
    }
  }

  /** The thread's address and its state; undefined outside of the view, without a lookup where no thread can be one. */
  async function find(thread: string) {
    const { channelId, threadTs } = parseThread(thread);
    if (!channelId.startsWith("D") || threadTs === undefined) return undefined;
    const known = await state.get(keyOf(thread));
    return known === null ? undefined : { at: { channel_id: channelId, thread_ts: threadTs }, known };
  }

  return {
    async started({ event }) {
      const { channel_id: channelId, thread_ts: threadTs } = event.assistant_thread ?? {};
      if (!channelId || !threadTs || !/^D[A-Z0-9]{1,59}$/.test(channelId) || !/^\d{1,11}\.\d{1,9}$/.test(threadTs))
        return;
      await state.compareAndSet(keyOf(threadOf({ channelId, threadTs })), null, isNew, keptMs);
    },
    async title(thread, question) {
      const [title] = question.trim().split("\n");
      if (title === undefined || title === "") return;
      const found = await find(thread);
      if (found?.known !== isNew || !(await state.compareAndSet(keyOf(thread), isNew, isNamed, keptMs))) return;
      const shown = [...title].length > titleMax ? `${[...title].slice(0, titleMax - 1).join("")}…` : title;
      await attempt((client) => client.assistant.threads.setTitle({ ...found.at, title: shown }));
    },
    async status(thread, { role }) {
      const found = await find(thread);
      if (found === undefined) return;
      const status = role === "agent" ? "is typing…" : "is thinking…";
      await attempt((client) => client.assistant.threads.setStatus({ ...found.at, status }));
    },
  };
}
