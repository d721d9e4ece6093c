import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MailBench } from "./support/mail-bench.ts";
import { openMailBench } from "./support/mail-bench.ts";

let mail: MailBench;
beforeAll(async () => {
  mail = await openMailBench();
});
afterAll(() => mail.close());

const notes = async (text: string) => (await mail.bench.notes(await mail.conversationWith(text))).join("\n");
describe("a mail to a customer with Cc recipients", () => {
  it("is not sent to Cc recipients again while the customer's address is deferred", async () => {
    const from = "ann@customers.example";
    const headers = { Cc: "copy@friends.example" };
    const wait = { kind: "refuse", code: 450, text: "4.2.0 greylisted", only: from } as const;
    mail.world.fail(wait, wait);
    await mail.write({ from, id: "<ann-1@x.example>", text: "Ann asks", headers });
    await mail.bench.settle();
    for (let i = 0; i < 4; i += 1) await mail.bench.advance(120_000);
    await mail.bench.settle();
    expect(mail.world.sent.map(({ to }) => to)).toEqual([["copy@friends.example"], [from]]);
    expect(mail.world.sent.at(-1)?.raw).toContain("Cc: copy@friends.example");
  });

  it("is given up if the customer's address is refused, regardless of the copies", async () => {
    const from = "Bea@Customers.example";
    mail.world.fail(
      { kind: "refuse", code: 550, text: "5.1.1 unknown user", only: "Bea@customers.example" },
      { kind: "refuse", code: 450, text: "4.2.0 greylisted", only: "one@friends.example" },
    );
    await mail.write({ from, id: "<bea-1@x.example>", text: "Bea asks", headers: { Cc: "one@friends.example" } });
    await mail.bench.settle();
    expect(await notes("Bea asks")).toContain("5.1.1 unknown user");
    mail.world.fail({ kind: "refuse", code: 550, text: "5.1.1 unknown user", only: "Bea@customers.example" });
    await mail.write({ from, id: "<bea-2@x.example>", text: "Bea asks more", headers: { Cc: "two@friends.example" } });
    await mail.bench.settle();
    expect(await notes("Bea asks more")).toContain("5.1.1 unknown user");
    expect(await notes("Bea asks more")).not.toContain("not its copy");
  });

  it("stays sent if only a copy bounces, with a note", async () => {
    const from = "cia@customers.example";
    const headers = { Cc: "old@friends.example" };
    await mail.write({ from, id: "<cia-1@x.example>", text: "Cia asks", headers });
    const sent = (await mail.mailsTo(from)).at(-1)?.parsed;
    const report = (id: string, ...addresses: readonly string[]): string =>
      [
        "From: MAILER-DAEMON@friends.example",
        `To: ${mail.world.address}`,
        `Message-ID: ${id}`,
        "Return-Path: <>",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
        "",
        "--b",
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mx.friends.example",
        "",
        ...addresses.flatMap((address) => [
          `Final-Recipient: rfc822; ${address}`,
          "Action: failed",
          "Status: 5.1.1",
          "",
        ]),
        "--b",
        "Content-Type: text/rfc822-headers",
        "",
        `Message-ID: ${sent?.messageId}`,
        "",
        "--b--",
        "",
      ].join("\r\n");
    const states = async () =>
      (
        await mail.bench.store.read
          .selectFrom("deliveries")
          .select("state")
          .where("conversation_id", "=", await mail.conversationWith("Cia asks"))
          .execute()
      ).map(({ state }) => state);
    await mail.world.deliver(report("<cia-2@friends.example>", "OLD@friends.example"));
    expect(await mail.taken("<cia-2@friends.example>")).toBe(true);
    expect(await notes("Cia asks")).toContain("A copy of an e-mail to the customer could not be delivered");
    expect(await notes("Cia asks")).toContain("OLD@friends.example");
    expect(await states()).toEqual(["sent"]);
    await mail.world.deliver(report("<cia-3@friends.example>", "old@friends.example", from));
    expect(await mail.taken("<cia-3@friends.example>")).toBe(true);
    expect(await states()).toEqual(["failed"]);
  });
});
