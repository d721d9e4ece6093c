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

/** State: all changes up to this time were read. Epoch seconds of Intercom's clock. */
const cursorKey = "cursor";
/** State: when the poll last found an event that was not delivered. Epoch milliseconds. */
export const missedKey = "missed";

/** The poll interval with working deliveries: it only finds lost ones. */
const besideDeliveriesMs = 60_000;
/** The poll interval without a public address: no deliveries arrive. */
const aloneMs = 15_000;
/** Intercom's search lags behind, by minutes at worst. */
const overlapS = 300;
/** Intercom's times are whole seconds: a conversation can change again without a new time, so recent ones are reread. */
const restlessS = 60;
/** An event older than this counts as missed; a younger one may still be delivered. */
const lateS = 120;
const perPage = 150;
const parallelMax = 4;
const refreshEveryMs = 3_600_000;

/**
 * Polls for events that were not delivered: Intercom throttles, pauses and finally suspends deliveries to a server that
 * was down. Reads each changed conversation and takes its new events. Returns when `signal` aborts; throws on failures,
 * such as a refused token.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  const { host } = dependencies;
  const everyMs = host.webhookUrl.startsWith("https://") ? besideDeliveriesMs : aloneMs;
  const seen = new Map<string, number>();
  let refreshedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    let waitMs = everyMs;
    try {
      if (host.clock.now() - refreshedAt >= refreshEveryMs) {
        await refreshWorkspace(dependencies, signal);
        refreshedAt = host.clock.now();
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

async function refreshWorkspace(
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
  await events.storeWorkspace({ identityVerification: app?.identity_verification === true, people });
  host.log.debug({ teammates: people.length }, "intercom: teammates loaded");
}

async function pollOnce(
  { api, host, events }: ConnectionDependencies,
  seen: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  const stored = await host.state.get(cursorKey);
  const cursor = stored === null ? await events.began() : Number(stored);
  const since = cursor - overlapS;
  const changed = await changedSince(api, since, signal);
  const readAt = host.clock.now() / 1_000;
  const fresh = changed.filter(({ id, updatedAt }) => seen.get(id) !== updatedAt);
  let missed = 0;
  for (let at = 0; at < fresh.length; at += parallelMax) {
    const found = await Promise.all(
      fresh.slice(at, at + parallelMax).map(({ id }) => takeOne({ api, events, host }, id, since, signal)),
    );
    if (signal.aborted) return;
    const late = host.clock.now() / 1_000 - lateS;
    for (const [i, count] of found.entries()) if ((fresh[at + i]?.updatedAt ?? 0) < late) missed += count;
  }
  for (const [id, updatedAt] of seen) if (updatedAt < since) seen.delete(id);
  for (const { id, updatedAt } of fresh) if (updatedAt < readAt - restlessS) seen.set(id, updatedAt);
  const newest = Math.max(cursor, ...changed.map(({ updatedAt }) => updatedAt));
  if (stored === null || newest > cursor) await host.state.set(cursorKey, String(newest));
  if (missed === 0) return;
  await host.state.set(missedKey, String(host.clock.now()));
  host.log.warn({ events: missed }, "intercom: missed events read");
}

interface ChangedConversation {
  readonly id: string;
  readonly updatedAt: number;
}

/** When Intercom's search compares days, midnight is in the workspace's time zone. */
const wholeDaysS = 2 * 86_400;

/**
 * Returns conversations changed since then, oldest change first. Some of Intercom's searches compare whole days, so this
 * asks for more, newest first, and stops at the first page that is older.
 */
async function changedSince(api: Api, since: number, signal: AbortSignal): Promise<readonly ChangedConversation[]> {
  const found = new Map<string, number>();
  const request = {
    query: { field: "updated_at", operator: ">", value: String(since - wholeDaysS) },
    pagination: { per_page: perPage },
    // Documented by Intercom, but missing from its OpenAPI description.
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
    // Without a strictly falling order, later pages may hold newer changes.
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
    // The conversation was deleted after the search.
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
