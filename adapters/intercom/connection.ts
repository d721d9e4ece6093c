import type { ChannelHost } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Api } from "./client.ts";
import type { Events } from "./events.ts";
import { readConversation, readListed } from "./payloads.ts";
import type { Settings } from "./config.ts";

export interface ConnectionDependencies {
  readonly api: Api;
  readonly settings: Settings;
  readonly host: ChannelHost;
  readonly events: Events;
}

/** Up to where everything is known, epoch seconds of Intercom's own clock. */
const cursorKey = "cursor";
/** What was found here that nobody had delivered, for the operator. */
export const missedKey = "missed";

/** Deliveries come by themselves; this is for what was lost. */
const besideDeliveriesMs = 60_000;
/** Intercom cannot reach us, so this is the only way. */
const aloneMs = 15_000;
/** Intercom's search lags behind, by minutes at the worst. */
const overlapS = 300;
/** Intercom's times are whole seconds: what has just changed may change once more without a new one, and is read again. */
const restlessS = 60;
/** A delivery may still be on its way. */
const lateS = 120;
const perPage = 150;
const togetherMax = 4;
const learnEveryMs = 3_600_000;

/**
 * Looks for what was not delivered: Intercom throttles, pauses and in the end suspends deliveries to who was away. Reads
 * every conversation that has changed, and takes what is new in it. Ends with the signal, or with what an operator has
 * to mend.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  const { host } = dependencies;
  const everyMs = host.webhookUrl.startsWith("https://") ? besideDeliveriesMs : aloneMs;
  const seen = new Map<string, number>();
  let learnedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    let waitMs = everyMs;
    try {
      if (host.clock.now() - learnedAt >= learnEveryMs) {
        await learnWorkspace(dependencies, signal);
        learnedAt = host.clock.now();
      }
      await pollOnce(dependencies, seen, signal);
    } catch (error) {
      if (signal.aborted) return;
      const limited = error instanceof DeliveryError && error.message.includes("no more requests");
      if (!limited) throw error;
      waitMs = Math.max(error.retryAfterMs ?? everyMs, 1_000);
    }
    await pause(host, waitMs, signal);
  }
}

async function learnWorkspace(
  { api, settings, host, events }: ConnectionDependencies,
  signal: AbortSignal,
): Promise<void> {
  const me = await api.call((client) => client.admins.identify({ abortSignal: signal }));
  const app = me?.app;
  if (app?.id_code !== undefined && app.id_code !== settings.appId) {
    throw new Error(`the access token is of the workspace ${app.id_code}, and \`app_id\` is ${settings.appId}`);
  }
  const { admins } = await api.call((client) => client.admins.list({ abortSignal: signal }));
  const people = (admins ?? []).flatMap((admin) =>
    admin?.id === undefined || admin.email === undefined
      ? []
      : [{ id: admin.id, email: admin.email, name: admin.name ?? null }],
  );
  await events.learn({ identityVerification: app?.identity_verification === true, people });
  host.log.debug({ teammates: people.length }, "intercom: teammates loaded");
}

async function pollOnce(
  { api, host, events }: ConnectionDependencies,
  seen: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  const kept = await host.recall(cursorKey);
  const cursor = kept === null ? await events.began() : Number(kept);
  const since = cursor - overlapS;
  const changed = await changedSince(api, since, signal);
  const readAt = host.clock.now() / 1_000;
  const fresh = changed.filter(({ id, updatedAt }) => seen.get(id) !== updatedAt);
  let missed = 0;
  for (let at = 0; at < fresh.length; at += togetherMax) {
    const found = await Promise.all(
      fresh.slice(at, at + togetherMax).map(({ id }) => takeOne({ api, events, host }, id, since, signal)),
    );
    if (signal.aborted) return;
    const late = host.clock.now() / 1_000 - lateS;
    for (const [i, count] of found.entries()) if ((fresh[at + i]?.updatedAt ?? 0) < late) missed += count;
  }
  for (const [id, updatedAt] of seen) if (updatedAt < since) seen.delete(id);
  for (const { id, updatedAt } of fresh) if (updatedAt < readAt - restlessS) seen.set(id, updatedAt);
  const newest = Math.max(cursor, ...changed.map(({ updatedAt }) => updatedAt));
  if (kept === null || newest > cursor) await host.remember(cursorKey, String(newest));
  if (missed === 0) return;
  await host.remember(missedKey, String(host.clock.now()));
  host.log.warn({ events: missed }, "intercom: missed events read");
}

interface Changed {
  readonly id: string;
  readonly updatedAt: number;
}

/** Where Intercom's search knows days alone, midnight is its workspace's. */
const wholeDaysS = 2 * 86_400;

/**
 * Oldest change first. Intercom may compare times as whole days, and does for some of its searches, so more is asked for
 * than wanted, the newest first, and reading ends where that is over.
 */
async function changedSince(api: Api, since: number, signal: AbortSignal): Promise<readonly Changed[]> {
  const found = new Map<string, number>();
  const request = {
    query: { field: "updated_at", operator: ">", value: String(since - wholeDaysS) },
    pagination: { per_page: perPage },
    // Known to its documentation, and not to its description.
    sort: { field: "updated_at", order: "descending" },
  } as const;
  let page = await api.call((client) => client.conversations.search(request, { abortSignal: signal }));
  let first = Number.NEGATIVE_INFINITY;
  let last = Number.POSITIVE_INFINITY;
  let isSorted = true;
  for (;;) {
    for (const item of page.data) {
      const listed = readListed(item);
      if (listed === null) continue;
      isSorted &&= listed.updatedAt <= last;
      last = listed.updatedAt;
      first = Math.max(first, last);
      if (last >= since) found.set(listed.id, Math.max(found.get(listed.id) ?? 0, last));
    }
    // What does not fall from the first to the last may be in any order.
    const isOver = isSorted && first > last && last < since;
    if (isOver || !page.hasNextPage() || signal.aborted) break;
    const current = page;
    page = await api.call(() => current.getNextPage());
  }
  return [...found].map(([id, updatedAt]) => ({ id, updatedAt })).toSorted((a, b) => a.updatedAt - b.updatedAt);
}

async function takeOne(
  { api, events, host }: Pick<ConnectionDependencies, "api" | "events" | "host">,
  id: string,
  since: number,
  signal: AbortSignal,
): Promise<number> {
  let answer: unknown;
  try {
    answer = await api.call((client) => client.conversations.find({ conversation_id: id }, { abortSignal: signal }));
  } catch (error) {
    // Deleted since it was listed.
    if (error instanceof DeliveryError && error.outcome === "rejected") return 0;
    throw error;
  }
  const conversation = readConversation(answer);
  if (conversation !== null) return events.take(conversation, since);
  host.log.warn({ conversation: id }, "intercom: unknown conversation skipped");
  return 0;
}

async function pause({ clock }: ChannelHost, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const stop = clock.timer(ms, done);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
