import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuardedLookup } from "#outbound/guarded-fetch.ts";
import { createCalls, createRest } from "#adapters/discord/client.ts";
import { operatorError as discordError } from "#adapters/discord/errors.ts";
import { createApi } from "#adapters/intercom/client.ts";
import { createSlackApi } from "#adapters/slack/client.ts";
import { failureOf as slackFailure, operatorError as slackError } from "#adapters/slack/errors.ts";
import { createClient } from "#adapters/twilio/shared/client.ts";
import { deliveryError as twilioError } from "#adapters/twilio/shared/errors.ts";
import { createServerFetch, namingSettings, refusalIn } from "./guarded-connect.ts";
import { connectionFailure, createPlatformFetch } from "./platform-fetch.ts";

let victim: Server;
let port: number;
let asked = 0;

beforeAll(async () => {
  victim = createServer((_request, response) => {
    asked += 1;
    response.setHeader("connection", "close").end("{}");
  });
  await new Promise<void>((resolve) => victim.listen(0, "127.0.0.1", resolve));
  ({ port } = victim.address() as AddressInfo);
});
afterAll(() => {
  victim.closeAllConnections();
  victim.close();
});

/** A name that is public when it is checked first, and private afterwards. */
function rebinding() {
  let turn = 0;
  const resolve = async () => [{ address: (turn += 1) === 1 ? "198.41.0.4" : "127.0.0.1", family: 4 }];
  const lookup = createGuardedLookup({ allowPrivate: false, resolve });
  const base = `http://api.rebinding.example:${port}`;
  return { base, lookup: namingSettings(lookup, ["other", "base_url"], { base_url: base }) };
}

async function checkedOnce() {
  const { base, lookup } = rebinding();
  await new Promise<void>((resolve, reject) => {
    lookup("api.rebinding.example", { all: true }, (error) => (error === null ? resolve() : reject(error)));
  });
  return { base, lookup };
}

const reason =
  "base_url: 127.0.0.1 is not a public address; the operator can allow it in the configuration file, under outbound.allow_private";

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => new Error("it was connected to"),
    (error: unknown) => error,
  );

describe("the server of an account that an administrator has connected", () => {
  it("is not connected to when its name resolves to a private address after the check", async () => {
    asked = 0;
    const { base, lookup } = await checkedOnce();
    const call = await failureOf(createPlatformFetch(lookup)(`${base}/x`, {}));
    expect(connectionFailure(call)).toEqual({ unsent: true, code: undefined, refusal: reason });
    expect(refusalIn(await failureOf(createServerFetch(lookup)(`${base}/x`)))).toBe(reason);
    expect(asked).toBe(0);
  });

  it.each(["127.0.0.1", "[::1]", "[::ffff:7f00:1]"])("is not connected to at the address %s", async (host) => {
    asked = 0;
    const base = `http://${host}:${port}`;
    const lookup = namingSettings(createGuardedLookup({ allowPrivate: false }), ["base_url"], { base_url: base });
    for (const call of [createPlatformFetch(lookup)(base, {}), createServerFetch(lookup)(base)]) {
      expect(refusalIn(await failureOf(call))).toMatch(/^base_url: .* is not a public address; /);
    }
    expect(asked).toBe(0);
  });

  it("is connected to when the operator allows its address", async () => {
    const lookup = createGuardedLookup({ allowPrivate: ["127.0.0.1"] });
    for (const host of ["127.0.0.1", "localhost"]) {
      expect((await createPlatformFetch(lookup)(`http://${host}:${port}`, {})).status).toBe(200);
      expect(await (await createServerFetch(lookup)(`http://${host}:${port}`)).text()).toBe("{}");
    }
  });

  it("is not connected to by the platforms' SDKs, whose errors name the setting", async () => {
    asked = 0;
    const { base, lookup } = await checkedOnce();
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const slack = await failureOf(createSlackApi("xoxb-1-2-3", base, log, lookup).client().auth.test());
    expect(slackError(slackFailure(slack)).message).toContain(reason);
    const discord = await failureOf(createCalls(createRest("a.b.c", base, lookup), "a.b.c").get("/users/@me"));
    expect(discordError(discord).message).toContain(reason);
    const clock = { now: () => 0 } as Parameters<typeof createApi>[1]["clock"];
    const intercom = createApi({ accessToken: "t", baseUrl: base }, { clock, lookup });
    expect(await failureOf(intercom.call((client) => client.admins.identify()))).toMatchObject({
      outcome: "not_sent",
      message: expect.stringContaining(reason),
    });
    for (const baseUrl of [base, `http://127.0.0.1:${port}`]) {
      const account = { accountSid: `AC${"0".repeat(32)}`, authToken: "0".repeat(32), baseUrl };
      const twilio = createClient(account, lookup);
      const failure = await failureOf(twilio.api.v2010.accounts(account.accountSid).fetch());
      expect(twilioError(failure).message).toContain("127.0.0.1 is not a public address");
    }
    expect(asked).toBe(0);
  });
});
