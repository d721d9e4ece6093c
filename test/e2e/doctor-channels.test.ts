import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startTokenProvider } from "#adapters/email/test/support/token-provider.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { deskChannel, openDeskWorld } from "../support/desk/world.ts";
import type { CommandHost } from "../support/program/program.ts";
import { freePort } from "../support/servers/free-port.ts";
import { openCommandHost, startGateway } from "../support/program/program.ts";

let world: DeskWorld;
let folder: string;
let env: Record<string, string>;
let host: CommandHost;

beforeAll(async () => {
  host = await openCommandHost();
});
afterAll(() => host.close());
beforeEach(async () => {
  world = await openDeskWorld();
  folder = await mkdtemp(join(tmpdir(), "parley-doctor-test-"));
  env = {
    PARLEY_DATA_DIR: join(folder, "data"),
    PARLEY_CONFIG: join(folder, "parley.yaml"),
    PUBLIC_URL: "https://support.example",
  };
  await writeFile(env["PARLEY_CONFIG"] ?? "", world.yaml);
});
afterEach(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** Doctor's results on the channels and the desk, by name. */
async function said(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await host.parley(["doctor", "--json"], env);
  const { checks } = JSON.parse(stdout) as {
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  };
  const ours = checks.filter(({ name }) => /^(?:channel|desk)/.test(name));
  return Object.fromEntries(ours.map(({ name, ok, detail }) => [name, `${ok ? "✓" : "✗"} ${detail}`]));
}

const writeFileWith = (from: string, to: string): Promise<void> =>
  writeFile(env["PARLEY_CONFIG"] ?? "", world.yaml.replace(from, to));

it("reports errors of the file's accounts before the first start, with their fixes", async () => {
  const { slack, telegram } = world;
  expect(await said()).toEqual({
    "channel slack": expect.stringMatching(
      /^✓ @parley in Shop; .*https:\/\/support\.example\/channels\/slack\/ACCOUNT/,
    ),
    "channel telegram": expect.stringMatching(
      /^✗ @\w+ has no webhook yet: start Parley, which sets it to https:.*ACCOUNT/,
    ),
    "desk slack": "✓ #support",
  });

  await writeFileWith(slack.botToken, "xoxb-1111111111-somebodyelses");
  expect((await said())["channel slack"]).toMatch(/^✗ .*bot_token/);
  await writeFileWith(telegram.token, "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  expect((await said())["channel telegram"]).toBe(
    "✗ Telegram does not know this token: get the bot's token from @BotFather, and set `token`",
  );
  // Reports one account's errors in full, and still checks the other account.
  await writeFileWith("transport: webhook", "transport: pigeons\n        groops: all");
  const half = await said();
  expect(half["channel slack"]).toMatch(/^✓ @parley in Shop/);
  expect(half["channel telegram"]).toMatch(/^✗ .*parley\.yaml, line \d+: transport must be one of webhook, polling/);
  await writeFileWith(`      channel: ${deskChannel}`, "      channel: C0NOWHERE");
  expect((await said())["desk slack"]).toMatch(/^✗ the app cannot see the desk channel: check desk\.channel/);
  await writeFile(env["PARLEY_CONFIG"] ?? "", world.yaml);
  slack.scopes.splice(slack.scopes.indexOf("reactions:read"), 1);
  const without = await said();
  expect(without["channel slack"]).toMatch(/^✓ .*reactions:read \(customers' reactions are not seen\): add it as Bot/);
  expect(without["desk slack"]).toMatch(/^✓ #support; lacking optional scopes: reactions:read \(agents' reactions /);
  slack.scopes.splice(slack.scopes.indexOf("commands"), 1);
  expect((await said())["desk slack"]).toMatch(
    /^✗ for the desk the app lacks commands \(for \/parley, and the shortcuts on messages\): add it as Bot Token Scopes/,
  );
  env = { ...env, PUBLIC_URL: "http://192.168.0.9:8080" };
  const inside = await said();
  expect(inside["channel slack"]).toMatch(/^✗ .*set PUBLIC_URL to an https address/);
  expect(inside["channel telegram"]).toMatch(/^✗ .*set PUBLIC_URL to an https address, or transport: polling/);
}, 240_000);

it("reads the current file, and shows the address that an account has had since its first start", async () => {
  const running = await startGateway(env);
  // Accounts connect while the program already serves.
  const isSet = async (): Promise<boolean> => (await said())["channel telegram"]?.startsWith("✓") === true;
  for (const end = Date.now() + 60_000; !(await isSet()) && Date.now() < end;) await sleep(100);
  expect(await running.stop()).toBe(0);
  const before = await said();
  expect(before["channel slack"]).toMatch(/^✓ .*https:\/\/support\.example\/channels\/slack\/acc_\w+$/);
  expect(before["channel telegram"]).toMatch(/^✓ @\w+, webhook$/);
  await writeFileWith(world.slack.botToken, "xoxb-1111111111-somebodyelses");
  expect((await said())["channel slack"]).toMatch(/^✗ .*bot_token/);
  await writeFileWith("transport: webhook", "transport: polling");
  expect((await said())["channel slack"]).toBe(before["channel slack"]);
  expect((await said())["channel telegram"]).toMatch(/^✗ @\w+ still delivers to support\.example: start Parley/);
}, 240_000);

it("uses no refresh token whose successor could not be stored, and signs in once it can be", async () => {
  const provider = await startTokenProvider();
  const port = await freePort();
  const yaml = (name: string): string =>
    JSON.stringify({
      workspaces: [
        {
          name: "Shop",
          channels: [
            {
              name: "mail",
              channel: "email",
              address: "support@shop.example",
              from_name: name,
              imap_host: "127.0.0.1",
              imap_port: port,
              smtp_host: "127.0.0.1",
              oauth_token_url: provider.tokenUrl,
              oauth_client_id: provider.client.id,
              oauth_client_secret: provider.client.secret,
              oauth_refresh_token: refresh,
            },
          ],
        },
      ],
    });
  const refresh = provider.signIn("support@shop.example");
  const file = env["PARLEY_CONFIG"] ?? "";
  const notYet =
    "✓ support@shop.example, not signed in to yet: oauth_refresh_token may be good for one use, which the server needs; start Parley with these settings, and ask again";
  const unreachable = "the IMAP server 127.0.0.1 cannot be reached";
  try {
    await writeFile(file, yaml("Shop"));
    expect(await said()).toEqual({ "channel mail": notYet });
    expect(provider.given()).toBe(0);
    const running = await startGateway(env);
    const end = Date.now() + 60_000;
    while (!(await (await fetch(`${running.url}/health/ready`)).text()).includes(unreachable) && Date.now() < end) {
      await sleep(100);
    }
    expect(provider.given()).toBe(1);
    expect(await running.stop()).toBe(0);
    // The program's current access token is still valid.
    expect((await said())["channel mail"]).toContain(unreachable);
    expect(provider.given()).toBe(1);
    await writeFile(file, yaml("The shop"));
    expect(await said()).toEqual({ "channel mail": notYet });
    expect(provider.given()).toBe(1);
  } finally {
    await provider.close();
  }
}, 240_000);
