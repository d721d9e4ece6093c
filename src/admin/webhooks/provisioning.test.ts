import { expect, it } from "vitest";
import type { FileWebhook } from "#config/file.ts";
import { readConfigFile } from "#config/file.ts";
import { listWebhooks, removeWebhook } from "./webhooks.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";

const secretOf = (text: string): string => `whsec_${Buffer.from(text.padEnd(32, ".")).toString("base64")}`;

eachDatabase("webhooks of the configuration file", (open) => {
  it("are made once, changed, disabled when they have left the file, and enabled when they are back", async () => {
    const first = await openBench(open);
    const secrets = createSecrets("a secret for tests, of more than thirty-two characters");
    const start = async (webhooks: readonly FileWebhook[]): Promise<void> => {
      const file = { workspaces: [{ name: "Test", plan: undefined, settings: {}, channels: [], webhooks }] };
      await (await openBench(open, { beside: first, clock: first.clock, file })).close();
    };
    const list = async () =>
      (await listWebhooks(first.store, undefined)).map(({ url, events, state, managed_by }) => ({
        url,
        events: events.length,
        state,
        managed_by,
      }));
    try {
      const [one, two] = ["https://one.example/", "https://two.example/"];
      await start([{ url: one, secret: secretOf("old") }, { url: two }]);
      await start([{ url: one, secret: secretOf("old") }, { url: two }]);
      expect(await list()).toEqual([
        { url: one, events: 7, state: "enabled", managed_by: "file" },
        { url: two, events: 7, state: "enabled", managed_by: "file" },
      ]);
      const [made] = await listWebhooks(first.store, undefined);
      await expect(removeWebhook(first.store, first.clock, made?.id ?? "")).rejects.toThrow(
        "stands in the configuration file",
      );

      await start([{ url: one, secret: secretOf("new"), events: ["message.created"] }]);
      expect(await list()).toMatchObject([
        { events: 1, state: "enabled" },
        { url: two, state: "disabled" },
      ]);
      const row = await first.store.read
        .selectFrom("webhooks")
        .selectAll()
        .where("url", "=", one)
        .executeTakeFirstOrThrow();
      expect([secrets.open(row.secret), secrets.open(row.previous_secret ?? "")]).toEqual([
        secretOf("new"),
        secretOf("old"),
      ]);

      await start([{ url: one, secret: secretOf("new") }, { url: two }]);
      expect((await list()).map(({ state }) => state)).toEqual(["enabled", "enabled"]);
    } finally {
      await first.close();
    }
  });
});

it("a webhook or a range that is written wrongly stops the start, by its line", () => {
  const read = (text: string) => () => readConfigFile("parley.yaml", text, {});
  const workspace = (webhook: string) => `workspaces:\n  - name: A\n    webhooks:\n      - ${webhook}\n`;
  expect(read(workspace("url: ftp://shop.example/"))).toThrow("line 4: workspaces.0.webhooks.0.url");
  expect(read(workspace("{ url: 'https://shop.example/', events: [conversation.ended] }"))).toThrow("must be one of");
  expect(read(workspace("{ url: 'https://shop.example/', secret: short }"))).toThrow("webhooks.0.secret");
  expect(read("outbound:\n  allow_private: [127.0.0.1, inner]\n")).toThrow('line 2: "inner" is neither an address');
});
