import { describe, expect, it, onTestFinished } from "vitest";
import { greet, newClientId } from "../test/support/client.ts";
import { startSite } from "../test/support/site.ts";

describe("a browser", () => {
  it("receives edits and deletions at once and when it reconnects, and never the content of a deleted message", async () => {
    const shop = await startSite({});
    onTestFinished(() => shop.close());
    const first = await greet(shop);
    first.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await first.next("message");
    const thread = shop.host.thread1();
    for (const markdown of ["Five", "Seven"]) shop.host.say(thread, { role: "agent", markdown });
    const five = await first.next("message");
    const seven = await first.next("message");
    shop.host.amend(thread, five.id, { markdown: "Six" });
    const text = (of: string) => [{ t: "p", c: [of] }];
    expect(await first.next("changed")).toMatchObject({ message: { seq: five.seq, content: text("Six") } });
    const { token } = first.ready;
    first.close();
    await first.closed;
    shop.host.amend(thread, seven.id, { markdown: "", deleted: true });
    const conversation = shop.host.storedThreads.get(thread)?.conversationId;
    const again = await greet(shop, { token, lastSeq: seven.seq, conversation });
    await again.next("changed");
    expect(await again.next("changed")).toMatchObject({ message: { id: seven.id, content: [], deleted: true } });
    const anew = await greet(shop, { token, lastSeq: 0 });
    await anew.next("message");
    expect(await anew.next("message")).toMatchObject({ id: five.id, content: text("Six") });
    expect(await anew.next("message")).toMatchObject({ id: seven.id, content: [], deleted: true });
  });
});
