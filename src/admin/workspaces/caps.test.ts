import { expect, it } from "vitest";
import { createAccessToken } from "#admin/access-tokens.ts";
import { createKey, listKeys, revokeKey } from "#admin/api-keys.ts";
import { createOAuthClient } from "#admin/oauth-clients.ts";
import { createAgent } from "#admin/team/agents.ts";
import { createTeam, listTeams } from "#admin/team/teams.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";

const by = systemActor("test");
const refusal = (max: number, of: string) => ({
  code: "invalid_parameter",
  message: expect.stringContaining(`at most ${max} ${of}`) as string,
});

eachDatabase("the maximum of things of a workspace", (open) => {
  it("is refused beyond, with the limit, also when requests are concurrent", async () => {
    const { store, clock, workspaceId, close } = await openBench(open);
    const secrets = createSecrets("a secret for tests, of more than thirty-two characters");
    const dependencies = { store, clock, secrets, allowPrivate: false };
    await store.write((tx) => tx.updateTable("workspaces").set({ plan: "enterprise" }).execute());
    const fill = async (count: number, add: (i: number) => Promise<unknown>) => {
      for (let i = 0; i < count; i += 1) await add(i);
    };
    try {
      const key = () => createKey(store, clock, { workspaceId, name: "key" });
      const before = (await listKeys(store, workspaceId)).length;
      await fill(199 - before, key);
      const results = await Promise.allSettled([key(), key(), key()]);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      await expect(key()).rejects.toMatchObject(refusal(200, "API keys"));
      const [first] = await listKeys(store, workspaceId);
      await revokeKey(store, clock, first?.id ?? "");
      await key();

      const client = () => createOAuthClient(store, clock, { workspaceId, name: "client", by });
      await fill(100, client);
      await expect(client()).rejects.toMatchObject(refusal(100, "OAuth clients"));

      const hook = (i: number) => addWebhook(dependencies, { workspaceId, url: `https://hooks.example/${i}` });
      await fill(100, hook);
      await expect(hook(100)).rejects.toMatchObject(refusal(100, "webhooks"));

      const team = (i: number) => createTeam(store, clock, { workspaceId, by, name: `Team ${i}` });
      await fill(200, team);
      await expect(team(200)).rejects.toMatchObject(refusal(200, "teams"));
      expect(await listTeams(store.read, workspaceId)).toHaveLength(200);

      const person = { workspaceId, email: "ada@shop.example", name: "Ada", role: "admin" } as const;
      const { id: agentId } = await createAgent(store, clock, person);
      const expiresAt = clock.now() + 60_000;
      const token = (until: number | null = expiresAt) =>
        createAccessToken(store, clock, { workspaceId, agentId, name: "t", scope: "read", expiresAt: until, by });
      await fill(50, () => token());
      await expect(token()).rejects.toMatchObject(refusal(50, "access tokens"));
      clock.advance(60_001);
      await token(null);
    } finally {
      await close();
    }
  });
});
