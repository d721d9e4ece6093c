import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { ParsedMail } from "mailparser";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import type { Dovecot } from "./dovecot.ts";
import { startDovecot } from "./dovecot.ts";
import type { TokenProvider } from "./token-provider.ts";

export type SmtpFault =
  | { readonly kind: "refuse"; readonly code: number; readonly text: string; readonly only?: string }
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up" }
  | { readonly kind: "unreachable" };

export interface SentMail {
  readonly raw: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly parsed: ParsedMail;
}

/** A mailbox on a real IMAP server and a sending mail server, like a company's at its provider. */
export interface MailWorld {
  readonly dovecot: Dovecot;
  readonly address: string;
  readonly user: string;
  /** Settings for an account on these servers. */
  readonly config: Readonly<Record<string, unknown>>;
  /** All accepted mails in order, including duplicates. */
  readonly sent: readonly SentMail[];
  /** Sets the faults of the next mails. */
  fail(...faults: readonly SmtpFault[]): void;
  smtpAway(): Promise<void>;
  smtpBack(): Promise<void>;
  /** Breaks all IMAP connections and refuses new ones until {@link imapBack}. */
  imapAway(): void;
  imapBack(): void;
  /** The IMAP server closes its connections. Resolves when the clients have closed them too. */
  imapHangUp(): Promise<void>;
  /** The IMAP server reports sizes that are too large by this: some servers estimate. */
  guessSizes(more: number): void;
  /** Sets the IMAP server's current time, to match a program's clock. */
  liveBy(now: number): void;
  /** The IMAP server fails this often to return a whole mail, as if it were damaged. */
  refuseMails(times: number, how?: "in words" | "by hanging up"): void;
  /** Whether a client is in IDLE. */
  listening(): boolean;
  /** Delivers a mail to the mailbox. */
  deliver(raw: string, to?: string): Promise<void>;
  /** Waits until the program has taken every mail with this Message-ID; false after a timeout. */
  taken(messageId: string, patienceMs?: number): Promise<boolean>;
  close(): Promise<void>;
}

let mailboxes = 0;

/** Both servers accept the provider's tokens; the sending one accepts nothing else. */
export interface TokenWorld {
  readonly provider: TokenProvider;
  readonly mechanisms: string;
}

export async function startMailWorld(tokens?: TokenWorld): Promise<MailWorld> {
  const dovecot = await startDovecot(
    tokens === undefined
      ? undefined
      : { mechanisms: tokens.mechanisms, introspectionUrl: tokens.provider.introspectionUrl },
  );
  const user = `support${(mailboxes += 1)}`;
  const address = `${user}@shop.example`;
  const sent: SentMail[] = [];
  const faults: SmtpFault[] = [];
  const proxy = await startProxy(dovecot.imapPort);
  let smtp = await startSmtp(0);
  const smtpPort = smtp.port;

  async function startSmtp(port: number) {
    const server = new SMTPServer({
      authOptional: false,
      ...(tokens === undefined ? {} : { authMethods: ["XOAUTH2"] }),
      allowInsecureAuth: true,
      disabledCommands: ["STARTTLS"],
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 100,
      onConnect(_session, callback) {
        if (faults[0]?.kind !== "unreachable") return callback();
        faults.shift();
        callback(Object.assign(new Error("not now"), { responseCode: 421 }));
      },
      onAuth(auth, _session, callback) {
        if (auth.method === "XOAUTH2") {
          const good = auth.username === address && tokens?.provider.isGood(auth.accessToken ?? "") === true;
          // Google and Microsoft refuse in two steps.
          return callback(null, good ? { user: address } : { data: { status: "400", schemes: "bearer" } });
        }
        if (auth.username === address && auth.password === dovecot.password) return callback(null, { user: address });
        callback(new Error("wrong password"));
      },
      onRcptTo(recipient, _session, callback) {
        const fault = faults[0];
        if (fault?.kind !== "refuse" || (fault.only !== undefined && fault.only !== recipient.address))
          return callback();
        faults.shift();
        callback(Object.assign(new Error(fault.text), { responseCode: fault.code }));
      },
      onData(stream, session, callback) {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const raw = Buffer.concat(chunks);
          if (faults[0]?.kind === "hang_up") {
            faults.shift();
            for (const socket of sockets) socket.destroy();
            return;
          }
          const { mailFrom, rcptTo } = session.envelope;
          simpleParser(raw)
            .then((parsed) => {
              sent.push({
                raw: raw.toString("utf8"),
                from: mailFrom === false ? "" : mailFrom.address,
                to: rcptTo.map((each) => each.address),
                parsed,
              });
              if (faults[0]?.kind === "hang_up_after_commit") {
                faults.shift();
                for (const socket of sockets) socket.destroy();
                return;
              }
              callback(null, "queued");
            })
            .catch(callback);
        });
      },
    });
    server.on("error", () => undefined);
    const sockets = new Set<Socket>();
    (server as unknown as { readonly server: Server }).server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
    const listening = (server as unknown as { readonly server: Server }).server.address();
    return {
      port: typeof listening === "object" && listening !== null ? listening.port : 0,
      close: () =>
        new Promise<void>((resolve) => {
          for (const socket of sockets) socket.destroy();
          server.close(() => resolve());
        }),
    };
  }

  return {
    dovecot,
    address,
    user,
    config: {
      address,
      from_name: "Shop",
      ...(tokens === undefined
        ? { password: dovecot.password }
        : {
            oauth_token_url: tokens.provider.tokenUrl,
            oauth_client_id: tokens.provider.client.id,
            oauth_client_secret: tokens.provider.client.secret,
            oauth_refresh_token: tokens.provider.signIn(address),
          }),
      imap_host: "127.0.0.1",
      imap_port: proxy.port,
      imap_security: "none",
      smtp_host: "127.0.0.1",
      smtp_port: smtpPort,
      smtp_security: "none",
      authserv_id: "mx.shop.example",
    },
    sent,
    fail: (...more) => void faults.push(...more),
    smtpAway: () => smtp.close(),
    async smtpBack() {
      smtp = await startSmtp(smtpPort);
    },
    imapAway: proxy.cut,
    imapBack: proxy.restore,
    imapHangUp: proxy.hangUp,
    guessSizes: proxy.guessSizes,
    liveBy: proxy.liveBy,
    refuseMails: proxy.refuseMails,
    listening: proxy.listening,
    deliver: (raw, to = address) => dovecot.deliver(raw, to),
    async taken(messageId, patienceMs = 15_000) {
      const end = performance.now() + patienceMs;
      return dovecot.look(user, async (client) => {
        for (;;) {
          await client.mailboxOpen("INBOX");
          const all = await client.fetchAll("1:*", { uid: true, flags: true, envelope: true }, { uid: true });
          const mails = all.filter(({ envelope }) => envelope?.messageId === messageId);
          if (mails.length > 0 && mails.every(({ flags }) => flags?.has("$Parley") === true)) return true;
          if (performance.now() > end) return false;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      });
    },
    async close() {
      proxy.close();
      await smtp.close();
      await dovecot.close();
    },
  };
}

/** `14-May-2031 10:20:30 +0000` */
function imapDate(at: number): string {
  const [, day, month, year, time] = new Date(at).toUTCString().split(" ");
  return `${day}-${month}-${year} ${time} +0000`;
}

async function startProxy(target: number) {
  const sockets = new Set<Socket>();
  const nears = new Set<Socket>();
  let open = true;
  let guessed = 0;
  let aheadMs = 0;
  let refused = 0;
  let refusedHow = "in words";
  /** Connections in IDLE. */
  const idle = new Set<Socket>();
  const server = createServer((near) => {
    if (!open) {
      near.destroy();
      return;
    }
    const far = connect(target, "127.0.0.1");
    nears.add(near);
    near.on("close", () => nears.delete(near));
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        idle.delete(near);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (chunk: Buffer) => {
      const command = chunk.toString("latin1");
      if (command.endsWith(" IDLE\r\n")) idle.add(near);
      else idle.delete(near);
      const [, tag] = /^(\S+) UID FETCH .*BODY\.PEEK\[\]/.exec(command) ?? [];
      if (tag === undefined || refused === 0) return far.write(chunk);
      refused -= 1;
      if (refusedHow === "by hanging up") return near.destroy();
      return near.write(`${tag} NO [SERVERBUG] The message cannot be read\r\n`);
    });
    near.on("end", () => far.end());
    let unfinished = "";
    far.on("data", (chunk: Buffer) => {
      if (guessed === 0 && aheadMs === 0 && unfinished === "") return near.write(chunk);
      const lines = unfinished + chunk.toString("latin1");
      const end = lines.lastIndexOf("\n") + 1;
      unfinished = lines.slice(end);
      const rewritten = lines
        .slice(0, end)
        .replaceAll(/\bRFC822\.SIZE (\d+)/g, (_, size: string) => `RFC822.SIZE ${Number(size) + guessed}`)
        .replaceAll(
          /\bINTERNALDATE "([^"]+)"/g,
          (_, at: string) => `INTERNALDATE "${imapDate(Date.parse(at) + aheadMs)}"`,
        );
      return near.write(Buffer.from(rewritten, "latin1"));
    });
    far.on("end", () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    listening: () => idle.size > 0,
    cut() {
      open = false;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      open = true;
    },
    async hangUp() {
      const closed = [...nears].map((near) => once(near, "close"));
      for (const near of nears) near.end();
      await Promise.all(closed);
    },
    guessSizes(more: number) {
      guessed = more;
    },
    liveBy(now: number) {
      aheadMs = now - Date.now();
    },
    refuseMails(times: number, how = "in words") {
      refused = times;
      refusedHow = how;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export interface Letter {
  readonly from: string;
  readonly to: string;
  readonly id?: string;
  readonly subject?: string;
  readonly text: string;
  readonly references?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The DMARC result of the company's mail server. */
  readonly dmarc?: "pass" | "fail" | "none";
  readonly files?: readonly { readonly name: string; readonly mediaType: string; readonly bytes: Buffer }[];
}

const base64Lines = (bytes: Buffer): readonly string[] => bytes.toString("base64").match(/.{1,76}/g) ?? [];
const boundary = "next-part-of-the-mail";

/** A plain mail as delivered by the company's server. */
export function letter({
  from,
  to,
  id,
  subject,
  text,
  references = [],
  headers = {},
  dmarc,
  files = [],
}: Letter): string {
  const domain = from.split("@").at(-1)?.replace(">", "") ?? "";
  const last = references.at(-1);
  const words = [
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    ...base64Lines(Buffer.from(text)),
    "",
  ];
  return [
    ...(dmarc === undefined ? [] : [`Authentication-Results: mx.shop.example; dmarc=${dmarc} header.from=${domain}`]),
    `From: ${from}`,
    `To: ${to}`,
    ...(id === undefined ? [] : [`Message-ID: ${id}`]),
    ...(subject === undefined ? [] : [`Subject: ${subject}`]),
    ...(last === undefined ? [] : [`In-Reply-To: ${last}`, `References: ${references.join("\r\n ")}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Date: Thu, 19 Nov 2026 10:00:00 +0000",
    "MIME-Version: 1.0",
    ...(files.length === 0
      ? words
      : [
          `Content-Type: multipart/mixed; boundary="${boundary}"`,
          "",
          `--${boundary}`,
          ...words,
          ...files.flatMap((file) => [
            `--${boundary}`,
            `Content-Type: ${file.mediaType}`,
            `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(file.name)}`,
            "Content-Transfer-Encoding: base64",
            "",
            ...base64Lines(file.bytes),
          ]),
          `--${boundary}--`,
          "",
        ]),
  ].join("\r\n");
}
