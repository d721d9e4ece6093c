import { Type } from "typebox";
import { accountIn } from "#admin/channels/accounts.ts";
import { requirePublicAccount } from "#admin/channels/server-addresses.ts";
import { recordChange } from "#admin/audit.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { Tx } from "#database/contract.ts";
import { countUp } from "#database/queries/counters.ts";
import { Problem } from "#domain/problem.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { accountParams } from "./schemas.ts";

const checkSchema = {
  tags: ["Administration"],
  operationId: "checkChannel",
  summary: "Ask the platform whether the account works, as `parley doctor` does",
  params: accountParams,
  response: adminResponses(
    {
      200: Type.Object(
        {
          checks: Type.Array(
            Type.Object({
              name: Type.String(),
              ok: Type.Boolean(),
              detail: Type.String({ description: "The account's name on its platform, or the fault and its fix" }),
            }),
          ),
        },
        { title: "ChannelChecks" },
      ),
    },
    ["invalid_parameter"],
  ),
};

const testSchema = {
  tags: ["Administration"],
  operationId: "sendChannelTest",
  summary: "Send a test message to an address of the platform",
  params: accountParams,
  body: Type.Object(
    {
      to: Type.String({ minLength: 1, maxLength: 200, pattern: "\\S", allowed: "an address of the platform" }),
      text: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, pattern: "\\S", allowed: "a short text" })),
    },
    { title: "ChannelTest" },
  ),
  response: adminResponses({ 204: schemas.noContent }, [...schemas.withBody, "channel_refused", "too_many_attempts"]),
};

const testText = "This is a test message.";
const testsPerHour = 20;
const hourMs = 3_600_000;

/** Tries of an account: a check without a message, and a message. */
export function channelTrialRoutes(
  app: App,
  { store, clock, secrets, allowPrivate, channelAccounts }: Resources,
): void {
  const servers = { secrets, load: loadAdapter, allowPrivate };
  app.post("/channels/:id/check", { schema: checkSchema }, async (request) => {
    const account = await accountIn(store.read, administratorOf(request).workspaceId, request.params.id);
    await requirePublicAccount(servers, account);
    return { checks: await channelAccounts.check(account) };
  });

  app.post("/channels/:id/test-message", { schema: testSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const account = await accountIn(store.read, workspaceId, request.params.id);
    await requirePublicAccount(servers, account);
    const { id, name } = account;
    const { to, text = testText } = request.body;
    const begin = (): Promise<void> =>
      store.write(async (tx) => {
        const now = clock.now();
        await countTest(tx, workspaceId, now);
        await recordChange(tx, { workspaceId, by, action: "channel_tested", subject: name, to, now });
      });
    await channelAccounts.sendTest(id, { to, text, begin });
    return reply.code(204).send();
  });
}

/** Messages cost money, and strangers could get them. */
async function countTest(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const windowStart = now - (now % hourMs);
  const [count = 0] = await countUp(tx, [{ name: `channel test:${workspaceId}`, windowStart }]);
  if (count <= testsPerHour) return;
  throw new Problem(
    "too_many_attempts",
    `A workspace can send ${testsPerHour} test messages an hour. Try again later.`,
    {
      retryAfterS: (windowStart + hourMs - now) / 1_000,
    },
  );
}
