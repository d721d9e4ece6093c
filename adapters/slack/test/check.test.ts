import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "#config/environment.ts";
import type { ChannelCheck } from "#app/channels/checks.ts";
import { checkChannels } from "#app/channels/checks.ts";
import { benchSecret } from "#test/support/engine-bench.ts";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";

let account: SlackAccount;
let dataDir: string;
beforeEach(async () => {
  account = await openSlackAccount();
  dataDir = await mkdtemp(join(tmpdir(), "parley-refusals-"));
});
afterEach(async () => {
  await account.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function doctor(publicUrl = "https://parley.test"): Promise<ChannelCheck | undefined> {
  const loaded = loadConfig({
    DATABASE_URL: account.bench.url,
    PARLEY_DATA_DIR: dataDir,
    PARLEY_SECRET: benchSecret,
    PUBLIC_URL: publicUrl,
  });
  // The imitation of Slack is on this machine.
  const config = { ...loaded, file: { workspaces: [], allowPrivate: ["127.0.0.1"] } };
  const [checked] = await checkChannels(config, { clock: account.bench.clock, log: pino({ level: "silent" }) });
  return checked;
}

const refused = async (headers: Readonly<Record<string, string>>): Promise<void> => {
  const body = JSON.stringify({ type: "url_verification", challenge: "x" });
  expect((await account.post(body, headers)).status).toBe(401);
};
const sign = (at: number, secret?: string) =>
  account.slack.sign(JSON.stringify({ type: "url_verification", challenge: "x" }), at, secret);
const warnings = (): number => account.bench.logged.filter((line) => line.includes("slack: delivery refused")).length;

describe("refused deliveries of Slack", () => {
  it("report a wrong signing secret until a good delivery arrives", async () => {
    expect(await doctor()).toMatchObject({
      ok: true,
      detail: expect.stringContaining("the Request URL of its events and of Interactivity"),
    });
    const { clock } = account.bench;
    await refused(sign(clock.now(), "of-another-app-00"));
    expect(await doctor()).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^@parley in Shop: .* was refused: it is not signed with signing_secret: copy /),
    });
    expect(JSON.stringify(await doctor())).not.toContain(account.slack.signingSecret);
    await account.say({ channel: "D0ADA", text: "Now it is" });
    expect(await doctor()).toMatchObject({ ok: true });
  });

  it("report a wrong clock, and its direction", async () => {
    const { clock } = account.bench;
    await refused(sign(clock.now() - 600_000));
    expect((await doctor())?.detail).toContain("this machine's clock is 10 minutes ahead of Slack's");
    await account.bench.advance(60_000);
    await refused(sign(clock.now() + 600_000));
    expect((await doctor())?.detail).toContain("this machine's clock is 10 minutes behind Slack's");
  });

  it("are logged once a minute, and not at all without a signature", async () => {
    await refused({ "x-slack-signature": "v0=00", "x-slack-request-timestamp": "1" });
    for (let i = 0; i < 20; i += 1) await refused(sign(account.bench.clock.now(), "of-another-app-00"));
    expect(warnings()).toBe(1);
    await account.bench.advance(60_000);
    await refused(sign(account.bench.clock.now(), "of-another-app-00"));
    expect(warnings()).toBe(2);
    await account.bench.advance(60_000);
    const stranger = await fetch(account.url, { method: "POST", body: "{}" });
    expect(stranger.status).toBe(401);
    expect(warnings()).toBe(2);
  });

  it("do not count for a new signing secret", async () => {
    const { store, app } = account.bench;
    await refused(sign(account.bench.clock.now(), "of-another-app-00"));
    const { secrets } = app.services;
    const row = await store.read
      .selectFrom("accounts")
      .select("credentials")
      .where("channel", "=", "slack")
      .executeTakeFirstOrThrow();
    const credentials = JSON.parse(secrets.open(row.credentials ?? "")) as Readonly<Record<string, string>>;
    const sealed = secrets.seal(JSON.stringify({ ...credentials, signing_secret: "ofanotherapp0000" }));
    await store.write((tx) =>
      tx.updateTable("accounts").set({ credentials: sealed }).where("channel", "=", "slack").execute(),
    );
    expect(await doctor()).toMatchObject({ ok: true });
  });
});

describe("doctor's check", () => {
  it("reports an address that Slack cannot reach", async () => {
    for (const url of ["https://192.168.0.9", "https://parley.lan", "https://localhost:8443"]) {
      expect((await doctor(url))?.detail).toContain("which is an address within your own network: set PUBLIC_URL");
    }
  });

  it("reports a rate limit with its time, or Slack's status page", async () => {
    const { slack } = account;
    slack.fail("auth.test", { kind: "limit", seconds: 17 });
    expect((await doctor())?.detail).toBe("Slack takes no more calls of this app for 17 s: ask again then");
    for (const fault of [
      { kind: "status", status: 500 } as const,
      { kind: "error", error: "internal_error" } as const,
    ]) {
      slack.fail("auth.test", fault);
      expect((await doctor())?.detail).toMatch(/^Slack failed \(\S+(?: 500)?\): ask again in a few minutes; https:/);
    }
  });
});
