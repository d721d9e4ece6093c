import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namingSettings } from "#channels/http/guarded-connect.ts";
import { createGuardedLookup } from "#outbound/guarded-fetch.ts";
import type { EmailConfig } from "../config.ts";
import { exposesSecrets } from "../config.ts";
import { openImap } from "../imap.ts";
import { createTransport, smtpError } from "../smtp.ts";
import { serverFor } from "../server.ts";

let victim: Server;
let connections = 0;
let config: EmailConfig;

beforeAll(async () => {
  victim = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => victim.listen(0, "127.0.0.1", resolve));
  const { port } = victim.address() as AddressInfo;
  config = {
    address: "help@shop.example",
    imap_host: "imap.rebinding.example",
    imap_port: port,
    imap_security: "none",
    smtp_host: "smtp.rebinding.example",
    smtp_port: port,
    smtp_security: "none",
  };
});
afterAll(() => void victim.close());

/** The names are public in the first `turns` questions, and private afterwards. */
function publicFor(turns: number) {
  let turn = 0;
  const resolve = async () => [{ address: (turn += 1) <= turns ? "198.41.0.4" : "127.0.0.1", family: 4 }];
  return namingSettings(createGuardedLookup({ allowPrivate: false, resolve }), ["imap_host", "smtp_host"], config);
}

const reason = (setting: string): RegExp =>
  new RegExp(`cannot be reached \\(${setting}: 127\\.0\\.0\\.1 is not a public address; .*outbound\\.allow_private\\)`);

describe("a mailbox that an administrator has connected", () => {
  it("connects to no server whose name resolves to a private address after the check", async () => {
    connections = 0;
    const lookup = publicFor(2);
    await serverFor(config.imap_host, lookup);
    await serverFor(config.smtp_host, lookup);
    const credentials = async () => ({ kind: "password" as const, user: "u", password: "p" });
    await expect(openImap({ host: { lookup }, config, credentials })).rejects.toThrow(reason("imap_host"));
    const sent = createTransport(config, undefined, lookup).then((transport) => transport.verify());
    const failure = smtpError(await sent.catch((error: unknown) => error), config);
    expect(failure).toMatchObject({ outcome: "not_sent", message: expect.stringMatching(reason("smtp_host")) });
    expect(connections).toBe(0);
  });

  it("connects to the address that was checked, with the name for the certificate", async () => {
    const lookup = publicFor(1);
    expect(await serverFor(config.imap_host, lookup)).toEqual({ host: "198.41.0.4", servername: config.imap_host });
    expect(await serverFor(config.imap_host, undefined)).toEqual({ host: config.imap_host });
  });

  it("needs its passwords again for another port, and for weaker encryption", () => {
    const plain: EmailConfig = { address: "help@shop.example", imap_host: "i.example", smtp_host: "s.example" };
    const exposes = (before: Partial<EmailConfig>, after: Partial<EmailConfig>) =>
      exposesSecrets({ ...plain, ...before }, { ...plain, ...after });
    expect(exposes({}, { imap_port: 993, smtp_port: 465, imap_security: "tls" })).toBe(false);
    expect(exposes({}, { imap_port: 143 })).toBe(true);
    expect(exposes({}, { smtp_port: 25 })).toBe(true);
    expect(exposes({ smtp_port: 587 }, { smtp_port: 587, smtp_security: "none" })).toBe(true);
    expect(exposes({ imap_port: 143, imap_security: "none" }, { imap_port: 143, imap_security: "starttls" })).toBe(
      false,
    );
  });
});
