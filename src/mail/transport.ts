import type { MailConfig } from "#config/environment.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface MailTransport {
  /** `id`: the same for each attempt, so that mail programs show one copy. Throws where the server does not accept it. */
  send(id: string, mail: Mail): Promise<void>;
  /** Connects and signs in, without a mail. Throws an Error for the operator. */
  check(): Promise<string>;
}

const connectMs = 15_000;
const socketMs = 30_000;

/** Sends what the program itself writes, such as password resets. Each mail has a connection of its own. */
export function createMailTransport({ host, port, secure, credentials, from }: MailConfig): MailTransport {
  const isHere = host === "localhost" || host.startsWith("127.") || host === "::1";
  const open = async () =>
    (await import("nodemailer")).createTransport({
      host,
      port,
      secure,
      // A password must not be sent unencrypted over a network.
      requireTLS: !secure && credentials !== undefined && !isHere,
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: socketMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      logger: false,
      ...(credentials === undefined ? {} : { auth: { user: credentials.user, pass: credentials.password } }),
    });

  return {
    async send(id, { to, subject, text }) {
      await (
        await open()
      ).sendMail({
        from,
        // An object, since a text would be parsed as a list of addresses.
        to: { name: "", address: to },
        subject,
        text,
        messageId: `<${id}@${host}>`,
        headers: { "Auto-Submitted": "auto-generated" },
      });
    },
    async check() {
      try {
        await (await open()).verify();
      } catch (error) {
        const reason = error instanceof Error ? error.message : "unknown failure";
        throw new Error(`${host}:${port} does not take mail (${reason}): check SMTP_URL`, { cause: error });
      }
      return `${host}:${port}, as ${from}`;
    },
  };
}
