import { expect, it } from "vitest";
import type { FileWebhook } from "#config/workspace.ts";
import { readConfigFile } from "#config/file.ts";
import { disableWebhook, listWebhooks, removeWebhook } from "./webhooks.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";

const secretOf = (text: string): string => `whsec_${Buffer.from(text.padEnd(32, ".")).toString("base64")}`;

eachDatabase("webhooks of the configuration file", (open) => {
  it("are created once, changed, disabled when removed from the file, and enabled when they return", async () => {
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
        "is in the configuration file",
      );

      await start([
        { url: one, secret: secretOf("old") },
        { url: two, enabled: false },
      ]);
      expect((await list()).map(({ state }) => state)).toEqual(["enabled", "disabled"]);
      await start([{ url: one, secret: secretOf("old") }, { url: two }]);
      expect((await list()).map(({ state }) => state)).toEqual(["enabled", "enabled"]);

      // The file's reason replaces another one, so that the file can enable it again.
      await disableWebhook(first.store, first.clock, made?.id ?? "");
      const reasons = async () => (await listWebhooks(first.store, undefined)).map((each) => each.disabled_reason);
      expect(await reasons()).toEqual(["disabled by the operator", null]);
      await start([{ url: one, enabled: false }, { url: two }]);
      expect(await reasons()).toEqual(["disabled in the configuration file", null]);
      const [{ disabled_at: since } = { disabled_at: null }] = await listWebhooks(first.store, undefined);
      await start([{ url: two }]);
      expect(await reasons()).toEqual(["it is not in the configuration file any more", null]);
      expect((await listWebhooks(first.store, undefined))[0]?.disabled_at).toBe(since);

      const noted = await first.store.read.selectFrom("audit").select(["action", "detail"]).orderBy("id").execute();
      expect(noted.filter(({ action }) => action.startsWith("webhook_"))).toEqual([
        { action: "webhook_added", detail: one },
        { action: "webhook_added", detail: two },
        { action: "webhook_changed", detail: two },
        { action: "webhook_changed", detail: two },
        // The operator disabled it, then the file.
        { action: "webhook_changed", detail: one },
        { action: "webhook_changed", detail: one },
        { action: "webhook_removed", detail: one },
      ]);

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

it("an invalid webhook or address range stops the start, with its line", () => {
  const read = (text: string) => () => readConfigFile("parley.yaml", text, {});
  const workspace = (webhook: string) => `workspaces:\n  - name: A\n    webhooks:\n      - ${webhook}\n`;
  expect(read(workspace("url: ftp://shop.example/"))).toThrow("line 4: workspaces.0.webhooks.0.url");
  expect(read(workspace("{ url: 'https://shop.example/', events: [conversation.ended] }"))).toThrow("must be one of");
  expect(read(workspace("{ url: 'https://shop.example/', secret: short }"))).toThrow("webhooks.0.secret");
  expect(read("outbound:\n  allow_private: [127.0.0.1, inner]\n")).toThrow('line 2: "inner" is neither an address');
});
