import type { ImapFlow } from "imapflow";
import { Value } from "typebox/value";
import Type from "typebox";
import type { Static } from "typebox";
import type { ChannelHost } from "#channels/contract.ts";
import { closeImap, imapError, openFolder, openImap } from "./imap.ts";
import type { Events } from "./events.ts";
import type { MailLocation } from "./inbound/files.ts";
import type { MailOutcome } from "./inbound/outcome.ts";
import { eventId } from "./inbound/record.ts";
import type { Mail } from "./mime/mail.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { readMailInWorker } from "./mime/parse-in-worker.ts";
import type { EmailConfig } from "./config.ts";

export interface ConnectionDependencies {
  readonly host: ChannelHost;
  readonly config: EmailConfig;
  readonly events: Events;
  /** Failed fetches by mail, kept across connections. */
  readonly refused: Map<string, number>;
  readonly credentials: (signal?: AbortSignal) => Promise<Credentials>;
}

/** The read position in a folder: all mails up to `uid` are stored or skipped. */
const positionSchema = Type.Object({
  /** UIDVALIDITY: after a change, UIDs mean other mails. */
  v: Type.String(),
  uid: Type.Integer(),
  /** When the server received the newest read mail, epoch milliseconds of its clock. */
  at: Type.Number(),
  /** The same for the newest mail at the time of connecting. Mails up to it are never taken. */
  from: Type.Number(),
  /** When the account was connected, by the host's clock: much older mails are skipped, such as ones moved back. */
  connected: Type.Optional(Type.Number()),
});
type Position = Static<typeof positionSchema>;

const pollMs = 60_000;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;
/** Fetch attempts for a mail, over about three minutes. After them only its headers are fetched. */
const refusedMax = 8;
/** The bytes fetched of a mail. Agents get a note on larger ones. */
const sourceMax = 40 * 1024 * 1024;
const batchMax = 200;
const dayMs = 86_400_000;
/** Marks taken mails, for people who read the mailbox. */
const takenFlag = "$Parley";

const positionKey = (folder: string): string => `position:${folder.slice(0, 150)}`;

/**
 * Reads new mails until `signal` aborts: on notifications of the server, and every minute. A mail counts as read once it is
 * stored; until then it is read again, also after a restart. Rejects when the connection breaks: the host then reconnects.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  const { host, config } = dependencies;
  const client = await openImap(dependencies, signal);
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => undefined);
  let hasNewMail = false;
  let endWait = (): void => undefined;
  client.on("exists", () => {
    hasNewMail = true;
    endWait();
  });
  client.on("close", () => closed.reject(new Error("the server has closed the connection")));
  const onAbort = (): void => client.close();
  signal.addEventListener("abort", onAbort, { once: true });
  const inbox = config.folder ?? "INBOX";
  const readSent = async (folder: string): Promise<boolean> => {
    if (!(await hasNews(client, host, folder))) return true;
    const done = await drain(client, dependencies, folder, true, signal);
    // IDLE reports only on the open folder.
    await openFolder(client, inbox, { setting: "folder", readOnly: false, host: config.imap_host });
    hasNewMail ||= done;
    return done;
  };
  let retryMs = retryMinMs;
  try {
    const sent = await sentFolder(client, config);
    while (!signal.aborted) {
      hasNewMail = false;
      const done = await drain(client, dependencies, inbox, false, signal);
      const sentDone = sent === undefined || (await readSent(sent));
      retryMs = done && sentDone ? retryMinMs : Math.min(retryMs * 2, retryMaxMs);
      if (hasNewMail) continue;
      const waitOver = Promise.withResolvers<void>();
      endWait = () => waitOver.resolve();
      const stopTimer = host.clock.timer(done && sentDone ? pollMs : retryMs, endWait);
      // The next command ends IDLE.
      client.idle().catch(() => undefined);
      await Promise.race([waitOver.promise, closed.promise]).finally(stopTimer);
    }
  } catch (error) {
    if (!signal.aborted) throw client.usable && error instanceof Error ? error : imapError(error, config);
  } finally {
    signal.removeEventListener("abort", onAbort);
    await closeImap(client);
  }
}

/** The configured folder of sent mails, else the one that the server marks with `\Sent`. */
async function sentFolder(client: ImapFlow, { sent_folder: given }: EmailConfig): Promise<string | undefined> {
  if (given === false) return undefined;
  if (given !== undefined) return given;
  const folders = await client.list();
  return folders.find(({ specialUse }) => specialUse === "\\Sent")?.path;
}

async function hasNews(client: ImapFlow, host: ChannelHost, folder: string): Promise<boolean> {
  const position = await readPosition(host, folder);
  const status = await client.status(folder, { uidNext: true, uidValidity: true });
  if (position === null || status === false) return status !== false;
  return String(status.uidValidity) !== position.v || (status.uidNext ?? 0) - 1 > position.uid;
}

async function readPosition(host: ChannelHost, folder: string): Promise<Position | null> {
  const stored = await host.state.get(positionKey(folder));
  if (stored === null) return null;
  const value: unknown = JSON.parse(stored);
  return Value.Check(positionSchema, value) ? value : null;
}

interface Listed {
  readonly uid: number;
  readonly size: number;
  readonly at: number;
}

/** Takes all new mails of a folder in order. False: one could not be stored and must be retried. */
async function drain(
  client: ImapFlow,
  { host, config, events, refused }: ConnectionDependencies,
  folder: string,
  sent: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const open = client.mailbox;
  if (open === false || open.path !== folder) {
    const setting = sent ? "sent_folder" : "folder";
    await openFolder(client, folder, { setting, readOnly: false, host: config.imap_host });
  } else await client.noop();
  const box = client.mailbox;
  if (box === false) throw new Error(`the folder ${folder} cannot be opened: check the account's folders`);
  const v = String(box.uidValidity);
  let position = await readPosition(host, folder);
  if (position === null) {
    const newest = box.exists === 0 ? [] : await list(client, "*");
    const at = newest.at(-1)?.at ?? 0;
    // Capped: a mail dated in the future would block all mails until then.
    const connected = host.clock.now();
    await keep({ v, uid: box.uidNext - 1, at, from: Math.min(at, connected), connected });
    return true;
  }
  const known = position;
  const moved = known.v !== v;
  if (moved) {
    host.log.warn({ folder, was: known.v, is: v }, "email: folder was renumbered, comparing recent mails");
  }
  const canFlag = !sent && (box.permanentFlags?.has("\\*") === true || box.permanentFlags?.has(takenFlag) === true);
  for (;;) {
    const found: readonly Listed[] = moved
      ? await listSince(client, known)
      : await list(client, `${position.uid + 1}:*`);
    // For `N:*` servers return the last mail even if its UID is below N.
    const from: number = moved ? 0 : position.uid;
    const fresh = found.filter(({ uid }) => uid > from).toSorted((a, b) => a.uid - b.uid);
    for (const listed of moved ? fresh : fresh.slice(0, batchMax)) {
      if (listed.at !== 0 && listed.at < (known.connected ?? known.from) - dayMs) {
        host.log.info({ folder, uid: listed.uid }, "email: mail from before the account was connected skipped");
      } else if (!(await takeOne(listed))) return false;
      if (canFlag) await client.messageFlagsAdd(String(listed.uid), [takenFlag], { uid: true });
      if (moved) continue;
      position = { ...position, uid: listed.uid, at: Math.max(position.at, listed.at) };
      await keep(position);
    }
    if (moved) {
      const last = fresh.at(-1);
      await keep({
        ...known,
        v,
        uid: Math.max(box.uidNext - 1, last?.uid ?? 0),
        at: Math.max(known.at, last?.at ?? 0),
      });
      return true;
    }
    if (fresh.length <= batchMax) return true;
  }

  function keep(next: Position): Promise<void> {
    return host.state.set(positionKey(folder), JSON.stringify(next));
  }

  async function takeOne({ uid, size, at }: Listed): Promise<boolean> {
    // A connection lost earlier must not count as a failure of this mail.
    requireOpen(client);
    const name = `${folder}\n${v}\n${uid}`;
    const before = refused.get(name) ?? 0;
    let mail: Mail | undefined;
    try {
      // A mail damaged on the server must not block the ones after it.
      mail = await (before < refusedMax ? fetchMail(client, uid, size) : fetchHeaders(client, uid));
    } catch (error) {
      if (signal.aborted || before >= refusedMax) throw error;
      const tries = before + 1;
      refused.set(name, tries);
      host.log.warn({ err: error, folder, uid, tries }, "email: fetching a mail failed, retrying");
      // Some servers close the connection on a mail that they cannot read.
      if (!client.usable) throw error;
      return false;
    }
    // The mail was deleted after it was listed.
    if (mail === undefined) return true;
    const place = { folder, uidValidity: v, uid, receivedAt: at, sent };
    try {
      const outcome = await events.take(mail, place, signal);
      if (outcome.kind === "ignored") await skip(host, mail, place, outcome);
      refused.delete(name);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      host.log.error({ err: error, folder, uid, account: config.address }, "email: storing a mail failed, retrying");
      return false;
    }
  }
}

async function skip(
  host: ChannelHost,
  mail: Mail,
  { folder, uid, receivedAt, sent }: MailLocation,
  { reason, isOwn }: Extract<MailOutcome, { kind: "ignored" }>,
): Promise<void> {
  host.log.info({ folder, uid, reason }, "email: mail skipped");
  if (isOwn || sent) return;
  const sender = mail.from?.address ?? null;
  await host.reportSkipped({ externalId: eventId(mail), receivedAt, sender, title: mail.subject, reason });
}

/** undefined: the mail was deleted. Rejects when the server fails to return it. */
async function fetchMail(client: ImapFlow, uid: number, size: number): Promise<Mail | undefined> {
  const what = { uid: true, source: { start: 0, maxLength: sourceMax } };
  const fetched = await client.fetchOne(String(uid), what, { uid: true });
  requireOpen(client);
  if (fetched === undefined || fetched === false || fetched.source === undefined) return undefined;
  const { length } = fetched.source;
  // Some servers estimate sizes: a mail that was not cut off is complete.
  const bytes = length < sourceMax ? length : Math.max(size, length);
  return readMailInWorker({ raw: fetched.source, bytes });
}

async function fetchHeaders(client: ImapFlow, uid: number): Promise<Mail | undefined> {
  const fetched = await client.fetchOne(String(uid), { uid: true, headers: true }, { uid: true });
  requireOpen(client);
  if (fetched === undefined || fetched === false || fetched.headers === undefined) return undefined;
  const mail = await readMailInWorker({ raw: fetched.headers, bytes: fetched.headers.length });
  return { ...mail, lacks: "The text of this e-mail could not be read: the mail server cannot give it." };
}

/** On a lost connection the library returns nothing instead of failing, which must not skip mails. */
function requireOpen(client: ImapFlow): void {
  if (!client.usable) throw new Error("the server has closed the connection");
}

async function list(client: ImapFlow, range: string): Promise<readonly Listed[]> {
  const found = await client.fetchAll(range, { uid: true, size: true, internalDate: true }, { uid: range !== "*" });
  requireOpen(client);
  return found.map(({ uid, size, internalDate }) => ({
    uid,
    size: size ?? 0,
    at: internalDate === undefined ? 0 : new Date(internalDate).getTime(),
  }));
}

/** Lists the recent mails of a renumbered folder. IMAP searches by whole days, so this reaches back two. */
async function listSince(client: ImapFlow, { at, from }: Position): Promise<readonly Listed[]> {
  const since = Math.max(at - 2 * dayMs, 0);
  const uids = await client.search(since === 0 ? { all: true } : { since: new Date(since) }, { uid: true });
  requireOpen(client);
  if (uids === undefined || uids === false) throw new Error("the IMAP server does not list new mails");
  const all: Listed[] = [];
  for (let start = 0; start < uids.length; start += 500) {
    all.push(...(await list(client, uids.slice(start, start + 500).join(","))));
  }
  return all.filter((listed) => listed.at > from);
}
