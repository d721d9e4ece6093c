import { expect, it } from "vitest";
import { eachDatabase } from "../support/database/databases.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { isFullTier } from "../support/tier.ts";

interface Answered {
  readonly answer: string;
  readonly conversation_id: string;
  readonly message_id: string;
}

interface Conversation {
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content: string }[];
}

/** After the question is stored; while the answer is generated; after the answer is stored but not received. */
const points = ["accept.committed", "answer.before", "answer.stored"] as const;

eachDatabase("a question under an Idempotency-Key", (open) => {
  it.each(isFullTier ? points : points.slice(1, 2))(
    "is stored once and answered once when the program is killed at %s",
    { timeout: 120_000 },
    async (at) => {
      const database = await open();
      const installation = await install(database.url);
      const port = await freePort();
      const base = `http://127.0.0.1:${port}`;
      const headers = { authorization: `Bearer ${installation.key}`, "content-type": "application/json" };
      const ask = () =>
        fetch(`${base}/v1/query`, {
          method: "POST",
          headers: { ...headers, "idempotency-key": "once" },
          body: JSON.stringify({
            workspace_id: installation.workspaceId,
            query: "How much does express shipping cost?",
            strictness: "helpful",
          }),
        });
      const get = async (path: string) => (await (await fetch(`${base}${path}`, { headers })).json()) as unknown;
      let running: Launched | undefined;
      try {
        running = launch({ installation, port, env: { PARLEY_TEST_KILL_AT: `${at}:1` } });
        await running.ready;
        await expect(ask()).rejects.toThrow("fetch failed");
        expect((await running.exited).signal).toBe("SIGKILL");

        running = launch({ installation, port });
        await running.ready;
        const retried = await ask();
        expect([retried.status, retried.headers.get("idempotency-replayed")]).toEqual([200, null]);
        const answered = (await retried.json()) as Answered;
        expect(answered.answer).toContain("12 euros");

        const replayed = await ask();
        expect(replayed.headers.get("idempotency-replayed")).toBe("true");
        expect(await replayed.json()).toEqual(answered);

        const { conversations } = (await get(`/v1/conversations?workspace_id=${installation.workspaceId}`)) as {
          readonly conversations: readonly { readonly id: string }[];
        };
        expect(conversations.map(({ id }) => id)).toEqual([answered.conversation_id]);
        const { messages } = (await get(`/v1/conversations/${answered.conversation_id}`)) as Conversation;
        expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
        expect(messages[1]).toMatchObject({ id: answered.message_id, content: answered.answer });
      } finally {
        running?.signal("SIGKILL");
        await running?.exited;
        await installation.remove();
        await database.remove();
      }
    },
  );
});
