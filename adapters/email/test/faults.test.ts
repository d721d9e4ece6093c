import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeliveryError } from "#channels/errors.ts";
import { hourMs } from "#test/support/engine-bench.ts";
import type { MailBench } from "./support/mail-bench.ts";
import { openMailBench } from "./support/mail-bench.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { letter } from "./support/mail-world.ts";

let mail: MailBench;
beforeAll(async () => {
  mail = await openMailBench({ bot_mails_per_hour: 1_000 });
});
afterAll(() => mail.close());

const stored = async (like: string) =>
  (
    await mail.bench.store.read
      .selectFrom("messages")
      .select("content")
      .where("role", "=", "user")
      .where("content", "like", like)
      .orderBy("id")
      .execute()
  ).map(({ content }) => content);

const lettersOf = (what: string, numbers: readonly number[]) =>
  numbers.map((i) => ({ id: `<${what}-${i}@x.example>`, text: `${what} ${i}`, from: `${what}@customers.example` }));

describe("a mailbox whose servers fail", () => {
  it("takes mails from the time of a broken connection, in order and once", async () => {
    await mail.connected();
    const letters = lettersOf("broken", [1, 2, 3, 4, 5, 6]);
    for (const [i, each] of letters.entries()) {
      if (i === 2) mail.world.imapAway();
      await mail.world.deliver(letter({ ...each, to: mail.world.address, dmarc: "pass" }));
    }
    mail.world.imapBack();
    for (const { id } of letters) expect(await mail.taken(id)).toBe(true);
    expect(await stored("broken %")).toEqual(letters.map(({ text }) => text));
  });

  it("reconnects each time the server closes the connection", async () => {
    for (const i of [1, 2, 3]) {
      await mail.connected();
      mail.world.dovecot.kick(mail.world.user);
      await mail.write({ from: "kick@customers.example", id: `<kick-${i}@x.example>`, text: `kick ${i}` });
    }
    expect(await stored("kick %")).toEqual(["kick 1", "kick 2", "kick 3"]);
  });

  it("takes no mail twice after a renumbering, and loses none", async () => {
    await mail.write({ from: "renumber@customers.example", id: "<renumber-1@x.example>", text: "renumber 1" });
    await mail.bench.settle();
    const before = (await stored("%")).length;
    mail.world.imapAway();
    mail.world.dovecot.kick(mail.world.user);
    mail.world.dovecot.renumber(mail.world.user);
    await mail.world.deliver(
      letter({
        from: "renumber@customers.example",
        to: mail.world.address,
        id: "<renumber-2@x.example>",
        text: "renumber 2",
      }),
    );
    mail.world.imapBack();
    expect(await mail.taken("<renumber-2@x.example>")).toBe(true);
    await mail.write({ from: "renumber@customers.example", id: "<renumber-3@x.example>", text: "renumber 3" });
    expect(await stored("renumber %")).toEqual(["renumber 1", "renumber 2", "renumber 3"]);
    expect(await stored("%")).toHaveLength(before + 2);
    expect(mail.bench.logged.join("\n")).toContain("folder was renumbered");
  });

  it("takes a mail that arrives by two routes once, and two mails with one Message-ID both", async () => {
    const from = "twice@customers.example";
    await mail.write({ from, id: "<twice@x.example>", text: "twice one" });
    await mail.write({ from, id: "<twice@x.example>", text: "twice one", headers: { "X-Other-Way": "yes" } });
    await mail.write({ from, id: "<twice@x.example>", text: "twice two" });
    expect(await stored("twice %")).toEqual(["twice one", "twice two"]);
  });

  it("sends a mail with an unknown outcome again, under the same Message-ID", async () => {
    const from = "again@customers.example";
    await mail.bench.settle();
    mail.world.fail({ kind: "hang_up_after_commit" });
    await mail.write({ from, id: "<again-1@x.example>", text: "again" });
    await mail.bench.settle();
    await mail.bench.advance(60_000);
    const sent = await mail.mailsTo(from);
    expect(sent).toHaveLength(2);
    expect(new Set(sent.map(({ parsed }) => parsed.messageId)).size).toBe(1);
  });

  it("keeps queued mails while the mail server is down for an hour", async () => {
    const from = "hour@customers.example";
    await mail.bench.settle();
    await mail.world.smtpAway();
    await mail.write({ from, id: "<hour-1@x.example>", text: "hour" });
    await mail.bench.settle();
    await mail.bench.advance(hourMs);
    expect(await mail.mailsTo(from)).toEqual([]);
    await mail.world.smtpBack();
    await mail.bench.advance(hourMs);
    expect((await mail.mailsTo(from)).map(({ parsed }) => parsed.text?.trim())).toEqual(["You asked: hour"]);
  });

  it("takes a mail of ten thousand parts without its text, and then the next", async () => {
    const parts = "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(10_000);
    const head = `From: many@customers.example\r\nSubject: Many parts\r\nMessage-ID: <many@x.example>\r\n`;
    await mail.world.deliver(`${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`);
    expect(await mail.taken("<many@x.example>")).toBe(true);
    await mail.write({ from: "next@customers.example", id: "<next-1@x.example>", text: "next 1" });
    expect(await stored("Many parts%")).toEqual([
      "Many parts\n\n[The text of this e-mail could not be read: it has more than 200 parts.]",
    ]);
    expect(await stored("next 1")).toHaveLength(1);
  });

  it("takes the text of a mail of fifty megabytes, with a note for agents", async () => {
    const file = randomBytes(37_000_000).toString("base64").replaceAll(/.{76}/g, "$&\r\n");
    const raw = [
      "From: big@customers.example",
      "Message-ID: <big@x.example>",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "Here is my film.",
      "--b",
      "Content-Type: video/mp4; name=film.mp4",
      "Content-Transfer-Encoding: base64",
      "",
      file,
      "--b--",
      "",
    ].join("\r\n");
    expect(raw.length).toBeGreaterThan(50_000_000);
    await mail.world.deliver(raw);
    // A busy machine needs long for a mail of this size.
    expect(await mail.taken("<big@x.example>", 90_000)).toBe(true);
    const [text] = await stored("Here is my film.%");
    expect(text).toMatch(/^Here is my film\.\n\n\[This e-mail has 5\d MB; only its beginning was read\.\]$/);
  }, 120_000);

  it("returns an attachment, also after a renumbering, and reports when it is gone", async () => {
    const bytes = randomBytes(200_000);
    const raw = [
      "From: file@customers.example",
      "Message-ID: <file@x.example>",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "A file.",
      "--b",
      'Content-Type: application/octet-stream; name="data.bin"',
      "Content-Transfer-Encoding: base64",
      "",
      bytes.toString("base64").replaceAll(/.{76}/g, "$&\r\n"),
      "--b--",
      "",
    ].join("\r\n");
    await mail.world.deliver(raw);
    expect(await mail.taken("<file@x.example>")).toBe(true);
    const file = await mail.bench.store.read
      .selectFrom("attachments")
      .select("bytes")
      .where("name", "=", "data.bin")
      .executeTakeFirstOrThrow();
    expect(file.bytes).toBe(bytes.length);
    const ref = await mail.world.dovecot.look(mail.world.user, async (client) => {
      const box = await client.mailboxOpen("INBOX");
      const found = await client.search({ header: { "message-id": "<file@x.example>" } }, { uid: true });
      const [uid] = (found ?? []) as number[];
      return JSON.stringify({ folder: "INBOX", v: String(box.uidValidity), uid, part: "2", id: "<file@x.example>" });
    });
    const read = async (): Promise<Buffer> => {
      const content = await (await mail.adapter()).fetchFile?.(ref, new AbortController().signal);
      const chunks: Uint8Array[] = [];
      for await (const chunk of content ?? []) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    expect((await read()).equals(bytes)).toBe(true);
    mail.world.dovecot.kick(mail.world.user);
    mail.world.dovecot.renumber(mail.world.user);
    expect((await read()).equals(bytes)).toBe(true);
    await mail.world.dovecot.look(mail.world.user, async (client) => {
      await client.mailboxOpen("INBOX");
      const found = await client.search({ header: { "message-id": "<file@x.example>" } }, { uid: true });
      await client.messageDelete((found ?? []) as number[], { uid: true });
    });
    await expect(read()).rejects.toMatchObject({ outcome: "rejected" } satisfies Partial<DeliveryError>);
  });

  it("takes a mail that is only a file, as scanners send", async () => {
    const raw = [
      "From: scanner@customers.example",
      "Message-ID: <scan@x.example>",
      "Subject: Scan 17",
      "Content-Type: application/pdf; name=scan.pdf",
      "Content-Disposition: attachment; filename=scan.pdf",
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from("%PDF-1.7 scan").toString("base64"),
      "",
    ].join("\r\n");
    await mail.world.deliver(raw);
    expect(await mail.taken("<scan@x.example>")).toBe(true);
    await mail.bench.settle();
    const files = await mail.bench.store.read
      .selectFrom("attachments")
      .select(["state", "bytes"])
      .where("name", "=", "scan.pdf")
      .execute();
    expect(files).toEqual([{ state: "stored", bytes: 13 }]);
  });

  it("reports to the admin whether it works, with the fix and without the password", async () => {
    const { signal } = new AbortController();
    const check = await (await mail.adapter()).check?.(signal);
    expect(check).toMatch(/^support\d+@shop\.example, \d+ e-mails in INBOX, 127\.0\.0\.1 takes mails$/);
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ password: "wrong-password-99" }, /does not let support\d+@shop\.example in: check user and password/],
      [{ imap_port: await freePort() }, /IMAP server 127\.0\.0\.1 cannot be reached .*imap_port/],
      [{ folder: "Nowhere" }, /has no folder Nowhere: set folder to one of .*INBOX/],
      [{ smtp_port: await freePort() }, /SMTP server 127\.0\.0\.1 cannot be reached .*smtp_port/],
      [{ smtp_password: "wrong-password-98" }, /SMTP server 127\.0\.0\.1 does not let the account in/],
      [{ sent_folder: "Nowhere" }, /has no folder Nowhere: set sent_folder to one of .*INBOX/],
      [{ imap_security: "tls" }, /IMAP server 127\.0\.0\.1 .* as imap_security: tls expects .*check imap_port/],
      [{ imap_security: "starttls" }, /as imap_security: starttls expects \(no STARTTLS\)/],
      [{ smtp_security: "tls" }, /SMTP server 127\.0\.0\.1 .* as smtp_security: tls expects .*check smtp_port/],
      [{ smtp_security: "starttls" }, /as smtp_security: starttls expects \(no STARTTLS\)/],
    ];
    for (const [config, message] of wrong) {
      const problem = await (await mail.adapter(config)).check?.(signal).then(
        (said) => `it worked: ${said}`,
        (error: unknown) => String(error),
      );
      expect(problem).toMatch(message);
      expect(problem).not.toContain("wrong-password");
    }
  }, 60_000);
});
