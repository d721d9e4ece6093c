import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { anna, answerOf, heldAnswers } from "#test/support/engine-bench.ts";
import { hostWith } from "#test/support/channels/partial-host.ts";
import type { WhatsappConfig } from "../config.ts";
import whatsapp from "../index.ts";
import type { WhatsappBench } from "./support/account.ts";
import { openWhatsapp } from "./support/account.ts";
import type { Fault } from "./support/fake-cloud-api.ts";

const customer = "15551000001";
const hourMs = 3_600_000;
const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
let at: WhatsappBench;
afterEach(() => at.close());

async function begun(config: object = {}): Promise<void> {
  at = await openWhatsapp({ config });
  await at.meta.write(customer, "Hello");
  await at.bench.settle();
}
const newest = () => at.meta.taken.at(-1);

describe("reports on a message", () => {
  it("are shown in any order, and name the part", async () => {
    await begun();
    const messageId = await at.reply("There it is");
    for (const status of ["sent", "read", "delivered"]) await at.meta.report(newest()?.id ?? "", status);
    expect(await at.states(messageId)).toEqual(["read"]);
  });

  it("tell agents why it has failed", async () => {
    await begun();
    const messageId = await at.reply("There it is");
    await at.meta.report(newest()?.id ?? "", "failed", { errors: [{ code: 131_026, title: "Undeliverable" }] });
    await at.bench.settle();
    expect(await at.states(messageId)).toEqual(["failed"]);
    expect(await at.notes()).toContain("there is no WhatsApp at this number, or it is too old (Meta 131026)");
  });

  it("settle a message whose send broke off", async () => {
    await begun();
    at.meta.fail({ kind: "hang_up_after_commit" });
    const messageId = await at.reply("There it is");
    expect(await at.states(messageId)).toEqual(["sending"]);
    // The customer's telephone may be off for long.
    await at.meta.report(newest()?.id ?? "", "sent");
    expect(await at.states(messageId)).toEqual(["sent"]);
    await at.bench.advance(hourMs);
    expect(await at.notes()).not.toContain("may not have arrived");
    await at.meta.report(newest()?.id ?? "", "delivered");
    expect(await at.states(messageId)).toEqual(["delivered"]);
    expect(at.shown(customer).filter((text) => text.includes("There it is"))).toHaveLength(1);
  });
});

describe("an agent's reply to one message", () => {
  it("shows the customer which one", async () => {
    await begun();
    const { id } = await at.conversation();
    const { bench } = at;
    const [asked, answered] = await bench.messages(id);
    for (const refersTo of [asked?.id ?? "", answered?.id ?? ""]) {
      const given = { workspaceId: bench.workspaceId, conversationId: id, content: "This one", refersTo };
      await bench.engine.reply({ ...given, authorEmail: "anna@test.example", actor: anna });
      await bench.settle();
    }
    expect(at.meta.taken.slice(-2).map(({ request }) => request["context"])).toEqual([
      { message_id: asked?.external_id },
      { message_id: at.meta.taken[0]?.id },
    ]);
  });
});

describe("an agent's reply to a message of a former provider", () => {
  it("quotes it, since Meta does not know its id", async () => {
    await begun();
    const { id } = await at.conversation();
    const { bench } = at;
    const [asked, answered] = await bench.messages(id);
    await bench.store.write(async (tx) => {
      const external_id = `SM${"0".repeat(32)}`;
      await tx
        .updateTable("messages")
        .set({ external_id })
        .where("id", "=", asked?.id ?? "")
        .execute();
      await tx
        .updateTable("deliveries")
        .set({ external_id })
        .where("message_id", "=", answered?.id ?? "")
        .execute();
    });
    for (const refersTo of [asked, answered]) {
      const given = { workspaceId: bench.workspaceId, conversationId: id, content: "This one" };
      await bench.engine.reply({
        ...given,
        refersTo: refersTo?.id ?? "",
        authorEmail: "anna@test.example",
        actor: anna,
      });
      await bench.settle();
      expect(newest()?.body).toBe(`*Anna:*\n> ${refersTo?.content ?? ""}\n\nThis one`);
      expect(newest()?.request).not.toHaveProperty("context");
    }
  });
});

describe("the reply window of 24 hours", () => {
  const template = {
    template_name: "follow_up",
    template_language: "en_US",
    template_variables: { "2": "{text}", "1": "Ada" },
  };

  it("lets nothing through without a template", async () => {
    await begun();
    await at.bench.pass(25 * hourMs);
    expect(await at.states(await at.reply("Too late"))).toEqual(["failed"]);
    expect(await at.notes()).toContain("it then takes a template only");
  });

  it.each([
    ["a reaction to an answer", "👍"],
    ["a reaction that is no opinion", "❤️"],
    ["the end of a reaction", ""],
  ])("is opened by %s, which is no message", async (_what, emoji) => {
    await begun();
    const message_id = newest()?.id;
    await at.bench.pass(25 * hourMs);
    await at.meta.write(customer, "", { type: "reaction", text: undefined, reaction: { message_id, emoji } });
    expect(await at.states(await at.reply("In time"))).toEqual(["sent"]);
    expect(await at.stored()).toHaveLength(1);
    await at.bench.pass(25 * hourMs);
    expect(await at.states(await at.reply("Too late"))).toEqual(["failed"]);
  });

  it("lets the template through, with the message in one line", async () => {
    await begun(template);
    await at.bench.pass(25 * hourMs);
    expect(await at.states(await at.reply("One\n\ntwo"))).toEqual(["sent"]);
    expect(newest()).toMatchObject({ type: "template", body: "Ada | *Anna:* One two" });
    expect(newest()?.request["template"]).toMatchObject({ name: "follow_up", language: { code: "en_US" } });
    expect(await at.states(await at.reply("x".repeat(1_200)))).toEqual(["failed"]);
  });

  it("measures what a template carries, which is an answer without its buttons", async () => {
    await begun(template);
    const config = { ...at.meta.settings, ...template } as unknown as WhatsappConfig;
    const account = { id: "a", workspaceId: "w", channel: "whatsapp", name: "whatsapp", config };
    const { window } = whatsapp.create(account, hostWith({}));
    const outside = (length: number) =>
      window?.outside({
        role: "assistant",
        authorName: null,
        markdown: "x".repeat(length),
        sources: [],
        kind: "answer",
      });
    for (const length of [961, 1_000]) expect(outside(length)).toHaveLength(1);
    expect(outside(1_001)).toContain("has no room");
  });

  it("sends named variables by their names, and a file as a link", async () => {
    await begun({ ...template, template_variables: { message: "{text}" } });
    await at.bench.pass(25 * hourMs);
    await at.reply("", [await at.upload("lamp.png", png)]);
    expect(newest()?.body).toMatch(/^lamp\.png http:\/\/parley\.test\/files\//);
    expect(JSON.stringify(newest()?.request["template"])).toContain('"parameter_name":"message"');
  });

  it("counts as closed when only Meta reports it", async () => {
    await begun();
    at.meta.fail({ kind: "error", code: 131_047, details: "Re-engagement message" });
    expect(await at.states(await at.reply("Refused at once"))).toEqual(["failed"]);
    expect(await at.notes()).toContain("Needs action");
    const messageId = await at.reply("Reported later");
    await at.meta.report(newest()?.id ?? "", "failed", { errors: [{ code: 131_047, title: "Re-engagement message" }] });
    await at.bench.settle();
    expect(await at.states(messageId)).toEqual(["failed"]);
    expect((await at.notes()).match(/Needs action/g)).toHaveLength(2);
  });
});

describe("an agent's files", () => {
  it("are pictures, sound and documents of their own, the first with the text as its caption", async () => {
    await begun();
    const files = [await at.upload("lamp.png", png), await at.upload("bill.pdf", Buffer.from("%PDF-1.7\nbill"))];
    await at.reply("See", files);
    await at.bench.settle();
    const [picture, document] = at.meta.taken.slice(-2);
    expect(picture).toMatchObject({
      type: "image",
      body: "*Anna:*\nSee",
      file: { mediaType: "image/png", bytes: png },
    });
    expect(document).toMatchObject({ type: "document", body: "", file: { name: "bill.pdf" } });
  });

  it("go as a link where Meta does not take their type", async () => {
    await begun();
    at.meta.refusedTypes.add("text/plain").add("application/octet-stream");
    const messageId = await at.reply("See", [await at.upload("plans.txt", Buffer.from("plans"))]);
    await at.bench.settle();
    expect(await at.states(messageId)).toEqual(["sent"]);
    expect(newest()).toMatchObject({ type: "text" });
    expect(newest()?.body).toMatch(/^\*Anna:\*\nSee\nplans\.txt\nhttp:\/\/parley\.test\/files\//);
  });
});

describe("the typing indicator", () => {
  it("is shown below the customer's latest message", async () => {
    at = await openWhatsapp();
    await at.meta.write(customer, "Hello", { id: "wamid.first" });
    await at.bench.settle();
    const slow = heldAnswers(at.bench);
    await at.meta.write(customer, "Hello again", { id: "wamid.second" });
    await slow.question(0);
    at.bench.clock.advance(300);
    await at.bench.until("typing is shown", () => at.meta.typing.length > 0);
    expect(at.meta.typing).toEqual(["wamid.second"]);
    slow.held[0]?.release(answerOf("Done"));
    await at.bench.settle();
    expect(at.shown(customer).at(-1)).toBe("Done");
  });
});

describe("an answer of Meta", () => {
  const error = (code: number, more: Partial<Extract<Fault, { kind: "error" }>> = {}): Fault => ({
    kind: "error",
    code,
    ...more,
  });

  it.each([
    [error(131_030), "failed", "a test number writes to numbers of its own list only"],
    [error(131_042), "failed", "check the WhatsApp account's payment method"],
    [error(132_001), "failed", "check `template_name`"],
    [error(368), "failed", "Meta has locked the WhatsApp account"],
    [error(131_009, { details: "The parameter is odd" }), "failed", "Meta refuses it: The parameter is odd"],
    [error(131_000, { status: 500 }), "unknown", "may not have arrived"],
    [{ kind: "html", status: 502 }, "unknown", "may not have arrived"],
    [{ kind: "hang_up" }, "unknown", "may not have arrived"],
  ] as const)("%j leaves the message %s, and agents read %s", async (fault, state, text) => {
    await begun();
    at.meta.fail(fault);
    const messageId = await at.reply("There it is");
    await at.bench.advance(hourMs);
    expect(await at.states(messageId)).toEqual([state]);
    expect(await at.notes()).toContain(text);
    expect(at.shown(customer)).toHaveLength(1);
  });

  it.each([4, 10, 200, 80_007, 130_429, 131_016, 131_048, 131_056, 131_057, 133_010])(
    "with the code %i lets the message wait, and it is sent once",
    async (code) => {
      await begun();
      at.meta.fail(error(code, { status: code === 131_016 ? 503 : 400 }));
      const messageId = await at.reply("There it is");
      expect(await at.states(messageId)).toEqual(["queued"]);
      await at.bench.advance(hourMs);
      expect(await at.states(messageId)).toEqual(["sent"]);
      expect(at.shown(customer)).toHaveLength(2);
    },
  );

  it("that refuses the token shows the channel as not connected, with the fix", async () => {
    await begun();
    at.meta.fail(error(190, { status: 401, subcode: 463 }));
    const messageId = await at.reply("There it is");
    expect(await at.states(messageId)).toEqual(["queued"]);
    const status = await at.bench.store.read.selectFrom("account_status").selectAll().executeTakeFirstOrThrow();
    expect(status).toMatchObject({ state: "unusable" });
    expect(JSON.stringify(status)).toContain("enter it as `access_token`");
    await at.bench.advance(hourMs);
    expect(await at.states(messageId)).toEqual(["sent"]);
  });

  it("that is a redirect is not followed with the token", async () => {
    await begun();
    const seen: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers);
      response.end("{}");
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const { port } = elsewhere.address() as AddressInfo;
    at.meta.fail({ kind: "redirect", location: `http://127.0.0.1:${port}/` });
    const messageId = await at.reply("There it is");
    expect(await at.states(messageId)).toEqual(["queued"]);
    await at.bench.advance(hourMs);
    expect(await at.states(messageId)).toEqual(["sent"]);
    expect(seen).toEqual([]);
    await new Promise((resolve) => elsewhere.close(resolve));
  });
});
