import type { ImapFlow } from "imapflow";
import { Value } from "typebox/value";
import Type from "typebox";
import type { Static } from "typebox";
import type { ChannelHost } from "#channels/contract.ts";
import { closeImap, imapError, openFolder, openImap } from "./imap.ts";
import type { Events } from "./events.ts";
import type { Mail } from "./mime/mail.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { readMailApart } from "./mime/parse-in-worker.ts";
import type { EmailConfig } from "./config.ts";

export interface ConnectionDependencies {
  readonly host: ChannelHost;
  readonly config: EmailConfig;
  readonly events: Events;
  /** How often the server has not given a mail, whichever connection it was asked over. */
  readonly refused: Map<string, number>;
  readonly credentials: (signal?: AbortSignal) => Promise<Credentials>;
}

/** Up to where a folder has been read: everything up to `uid` is stored, or of no interest. */
const positionSchema = Type.Object({
  /** UIDVALIDITY: with another one, the numbers mean other mails. */
  v: Type.String(),
  uid: Type.Integer(),
  /** When the server received the newest one, epoch milliseconds by its clock. */
  at: Type.Number(),
  /** The same of the newest one that was there when the account was connected: none up to it is taken. */
  from: Type.Number(),
  /** When the account was connected, by our clock: a mail from well before is not taken where somebody puts it back. */
  connected: Type.Optional(Type.Number()),
});
type Position = Static<typeof positionSchema>;

const pollMs = 60_000;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;
/** So often, over some three minutes, the server is asked for a mail that it does not give. */
const refusedMax = 8;
/** What is read of a mail. Larger ones are told of, and lie in the mailbox. */
const sourceMax = 40 * 1024 * 1024;
const batchMax = 200;
const dayMs = 86_400_000;
/** Marks what this program has taken, for people who look into the mailbox. */
const takenFlag = "$Parley";

const positionKey = (folder: string): string => `position:${folder.slice(0, 150)}`;

/**
 * Reads new mails until `signal` aborts: as the server tells of them, and every minute. A mail counts as read when it is
 * stored; what was not comes again, after a restart too. Rejects when the connection breaks: the host begins anew.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  const { host, config, credentials } = dependencies;
  const client = await openImap(config, credentials, signal);
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => undefined);
  let news = false;
  let wake = (): void => undefined;
  client.on("exists", () => {
    news = true;
    wake();
  });
  client.on("close", () => closed.reject(new Error("the server has closed the connection")));
  const onAbort = (): void => client.close();
  signal.addEventListener("abort", onAbort, { once: true });
  const inbox = config.folder ?? "INBOX";
  const readSent = async (folder: string): Promise<boolean> => {
    if (!(await hasNews(client, host, folder))) return true;
    const done = await drain(client, dependencies, folder, true, signal);
    // The server tells only of the folder that is open.
    await openFolder(client, inbox, { setting: "folder", readOnly: false, host: config.imap_host });
    news ||= done;
    return done;
  };
  let retryMs = retryMinMs;
  try {
    const sent = await sentFolder(client, config);
    while (!signal.aborted) {
      news = false;
      const done = await drain(client, dependencies, inbox, false, signal);
      const sentDone = sent === undefined || (await readSent(sent));
      retryMs = done && sentDone ? retryMinMs : Math.min(retryMs * 2, retryMaxMs);
      if (news) continue;
      const woken = Promise.withResolvers<void>();
      wake = () => woken.resolve();
      const stopTimer = host.clock.timer(done && sentDone ? pollMs : retryMs, wake);
      // Ends by itself when the next command is sent.
      client.idle().catch(() => undefined);
      await Promise.race([woken.promise, closed.promise]).finally(stopTimer);
    }
  } catch (error) {
    if (!signal.aborted) throw client.usable && error instanceof Error ? error : imapError(error, config);
  } finally {
    signal.removeEventListener("abort", onAbort);
    await closeImap(client);
  }
}

/** The folder that the server itself calls so, unless another one is set. */
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
  const stored = await host.recall(positionKey(folder));
  if (stored === null) return null;
  const value: unknown = JSON.parse(stored);
  return Value.Check(positionSchema, value) ? value : null;
}

interface Listed {
  readonly uid: number;
  readonly size: number;
  readonly at: number;
}

/** Takes all that is new in a folder, in its order. False when something could not be stored, and has to be tried again. */
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
    // One with a date that is still to come would keep out all until then.
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
    // A server answers `N:*` with its last mail even where that is before N.
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
    return host.remember(positionKey(folder), JSON.stringify(next));
  }

  async function takeOne({ uid, size, at }: Listed): Promise<boolean> {
    // What has ended the connection before is no fault of this mail.
    requireOpen(client);
    const name = `${folder}\n${v}\n${uid}`;
    const before = refused.get(name) ?? 0;
    let mail: Mail | undefined;
    try {
      // Nobody behind it is kept waiting by a mail that is damaged there.
      mail = await (before < refusedMax ? fetchMail(client, uid, size) : fetchHeaders(client, uid));
    } catch (error) {
      if (signal.aborted || before >= refusedMax) throw error;
      const tries = before + 1;
      refused.set(name, tries);
      host.log.warn({ err: error, folder, uid, tries }, "email: fetching a mail failed, retrying");
      // Some servers end the connection over a mail that they cannot read.
      if (!client.usable) throw error;
      return false;
    }
    // Somebody has deleted it meanwhile.
    if (mail === undefined) return true;
    const place = { folder, uidValidity: v, uid, receivedAt: at, sent };
    try {
      const outcome = await events.take(mail, place, signal);
      if (outcome.kind === "ignored") host.log.info({ folder, uid, reason: outcome.reason }, "email: mail skipped");
      refused.delete(name);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      host.log.error({ err: error, folder, uid, account: config.address }, "email: storing a mail failed, retrying");
      return false;
    }
  }
}

/** undefined: it is not there any more. Rejects where the server does not give it. */
async function fetchMail(client: ImapFlow, uid: number, size: number): Promise<Mail | undefined> {
  const what = { uid: true, source: { start: 0, maxLength: sourceMax } };
  const fetched = await client.fetchOne(String(uid), what, { uid: true });
  requireOpen(client);
  if (fetched === undefined || fetched === false || fetched.source === undefined) return undefined;
  const { length } = fetched.source;
  // Some servers only guess how large a mail is: what was not cut off is all of it.
  const bytes = length < sourceMax ? length : Math.max(size, length);
  return readMailApart({ raw: fetched.source, bytes });
}

async function fetchHeaders(client: ImapFlow, uid: number): Promise<Mail | undefined> {
  const fetched = await client.fetchOne(String(uid), { uid: true, headers: true }, { uid: true });
  requireOpen(client);
  if (fetched === undefined || fetched === false || fetched.headers === undefined) return undefined;
  const mail = await readMailApart({ raw: fetched.headers, bytes: fetched.headers.length });
  return { ...mail, lacks: "The text of this e-mail could not be read: the mail server cannot give it." };
}

/** On a connection that has ended the library finds nothing, instead of failing: no mail is passed over for that. */
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

/** Of a folder that was numbered anew: what came in the last days, as days are all that a server can be asked for. */
async function listSince(client: ImapFlow, { at, from }: Position): Promise<readonly Listed[]> {
  const since = Math.max(at - 2 * dayMs, 0);
  const uids = await client.search(since === 0 ? { all: true } : { since: new Date(since) }, { uid: true });
  requireOpen(client);
  if (uids === undefined || uids === false) throw new Error("the IMAP server does not tell which mails are new");
  const all: Listed[] = [];
  for (let start = 0; start < uids.length; start += 500) {
    all.push(...(await list(client, uids.slice(start, start + 500).join(","))));
  }
  return all.filter((listed) => listed.at > from);
}
