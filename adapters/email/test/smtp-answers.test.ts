import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createTransport, smtpError } from "../smtp.ts";
import type { EmailConfig } from "../config.ts";
import { freePort } from "#test/support/servers/free-port.ts";

/** Answer of the server at each step of a mail. A function acts on the socket instead. */
type Step = "greeting" | "EHLO" | "MAIL" | "RCPT" | "DATA" | "body";
type Answer = string | ((socket: Socket) => void);

const right: Readonly<Record<Step, Answer>> = {
  greeting: "220 mail.example ESMTP",
  EHLO: "250 mail.example",
  MAIL: "250 ok",
  RCPT: "250 ok",
  DATA: "354 go on",
  body: "250 taken",
};

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function serve(answers: Partial<Record<Step, Answer>>): Promise<number> {
  const server = createServer((socket) => {
    const say = (step: Step): void => {
      const answer = answers[step] ?? right[step];
      if (typeof answer === "string") socket.write(`${answer}\r\n`);
      else answer(socket);
    };
    let inBody = false;
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
      const text = bytes.toString();
      if (inBody) {
        if (!text.endsWith("\r\n.\r\n")) return;
        inBody = false;
        say("body");
        return;
      }
      const step = /^(EHLO|MAIL|RCPT|DATA)/.exec(text)?.[1] as Step | undefined;
      if (step === undefined) {
        socket.write("502 what?\r\n");
        return;
      }
      inBody = step === "DATA" && (answers.DATA ?? right.DATA) === right.DATA;
      say(step);
    });
    say("greeting");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function outcomeOf(given: Partial<EmailConfig>): Promise<string> {
  const config = { address: "help@shop.example", smtp_host: "127.0.0.1", smtp_security: "none", ...given };
  const transport = await createTransport(config as EmailConfig, undefined, undefined);
  try {
    await transport.sendMail({ from: "help@shop.example", to: "kim@customers.example", text: "Hello" });
    return "sent";
  } catch (error) {
    return smtpError(error, config as EmailConfig).outcome;
  } finally {
    transport.close();
  }
}

const hangUp = (socket: Socket): void => void socket.destroy();
const reset = (socket: Socket): void => void socket.resetAndDestroy();
const page = "HTTP/1.1 502 Bad Gateway\r\n\r\n<html></html>";

// The library does not report the step of a broken connection. An unknown outcome is sent again under the same Message-ID.
const cases: readonly (readonly [string, Partial<Record<Step, Answer>>, string])[] = [
  ["everything as it is to be", {}, "sent"],
  ["a greeting that is no SMTP", { greeting: page }, "unknown"],
  ["421 as the greeting", { greeting: "421 too busy" }, "not_sent"],
  ["a connection closed before the greeting", { greeting: hangUp }, "unknown"],
  ["a connection reset after EHLO", { EHLO: reset }, "unknown"],
  ["451 to the sender", { MAIL: "451 later" }, "not_sent"],
  ["450 to the address", { RCPT: "450 greylisted" }, "not_sent"],
  ["550 to the address", { RCPT: "550 no such mailbox" }, "rejected"],
  ["a connection reset at the address", { RCPT: reset }, "unknown"],
  ["452 before the mail", { DATA: "452 disk full" }, "not_sent"],
  ["451 after the mail", { body: "451 later" }, "not_sent"],
  ["554 after the mail", { body: "554 spam" }, "rejected"],
  ["a connection closed after the mail", { body: hangUp }, "unknown"],
  ["a connection reset after the mail", { body: reset }, "unknown"],
  ["an answer after the mail that is no SMTP", { body: "<html></html>" }, "unknown"],
];

for (const [name, answers, outcome] of cases) {
  it(`reports a mail as ${outcome} after ${name}`, async () => {
    expect(await outcomeOf({ smtp_port: await serve(answers) })).toBe(outcome);
  });
}

it("reports a mail as not_sent if the server is not found, refuses connections or lacks TLS", async () => {
  // The library's error for a resolver without a network, which would take minutes.
  expect(smtpError({ code: "EDNS" }, { smtp_host: "mail.example" } as EmailConfig).outcome).toBe("not_sent");
  const port = await serve({});
  expect(await outcomeOf({ smtp_port: port, smtp_security: "tls" })).toBe("not_sent");
  expect(await outcomeOf({ smtp_port: port, smtp_security: "starttls" })).toBe("not_sent");
  expect(await outcomeOf({ smtp_port: await freePort() })).toBe("not_sent");
});
