import { eventually } from "#test/support/eventually.ts";
import type { AddressInfo } from "node:net";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Refuses the next mails, each with one of these codes. */
  refuse(...codes: readonly number[]): void;
  /** Resolves with the number of mails that is asked for. */
  mails(count: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

/** A mail server that admits `parley` with the password `secret`, without TLS. */
export async function openMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const refusals: number[] = [];
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, callback) =>
      username === "parley" && password === "secret"
        ? callback(null, { user: username })
        : callback(new Error("wrong password")),
    onRcptTo(_recipient, _session, callback) {
      const code = refusals.shift();
      if (code === undefined) callback();
      else callback(Object.assign(new Error("not now"), { responseCode: code }));
    },
    onData(stream, { envelope }, callback) {
      simpleParser(stream)
        .then(({ messageId = "", subject = "", text = "" }) => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          received.push({ from, to: envelope.rcptTo.map(({ address }) => address), id: messageId, subject, text });
          callback(null);
        })
        .catch(callback);
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    refuse: (...codes) => void refusals.push(...codes),
    mails: (count) =>
      eventually(() => {
        if (received.length < count) throw new Error(`received ${received.length} of ${count} mails`);
        return [...received];
      }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The configuration of a program that sends by this server. */
export const mailConfigOf = ({ port }: Pick<MailServer, "port">) => ({
  host: "127.0.0.1",
  port,
  secure: false,
  credentials: { user: "parley", password: "secret" },
  from: "Parley <parley@shop.example>",
});
