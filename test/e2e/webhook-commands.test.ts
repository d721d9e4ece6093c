import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import type { TestDatabase } from "../support/database/databases.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { CommandHost } from "../support/program/program.ts";
import { openCommandHost } from "../support/program/program.ts";

eachDatabase("the webhook commands", (open) => {
  let database: TestDatabase;
  let folder: string;
  let env: Record<string, string>;
  let workspaceId: string;
  let host: CommandHost;
  const received: { readonly headers: Record<string, string>; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => {
      body += part.toString();
    });
    request.on("end", () => {
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(204).end();
    });
  });
  let url: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    host = await openCommandHost();
    database = await open();
    folder = await mkdtemp(join(tmpdir(), "parley-cli-"));
    const file = join(folder, "parley.yaml");
    await writeFile(file, "outbound:\n  allow_private: [127.0.0.1]\n");
    env = { PARLEY_DATA_DIR: join(folder, "data"), DATABASE_URL: database.url, PARLEY_CONFIG: file };
    workspaceId = (await json(["workspace", "create", "--name", "Acme"])).id;
  });
  afterAll(async () => {
    await host.close();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    await rm(folder, { recursive: true, force: true });
    await database.remove();
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- expectations check the fields that a test reads.
  async function json(args: readonly string[], status = 0): Promise<any> {
    const ran = await host.parley([...args, "--json"], env);
    expect(ran.stderr).toBe("");
    expect(ran.status).toBe(status);
    return JSON.parse(ran.stdout);
  }

  let added: { readonly id: string; readonly secret: string };
  let eventId: string;

  it("add a webhook, whose secret is shown once, and test it", async () => {
    added = await json(["webhook", "add", "--workspace", workspaceId, "--url", url]);
    expect(added).toMatchObject({
      id: expect.stringMatching(/^whe_/),
      secret: expect.stringMatching(/^whsec_/),
      url,
      events: expect.arrayContaining(["conversation.started", "conversation.reopened"]),
    });
    const tested = await json(["webhook", "test", added.id]);
    expect(tested).toMatchObject({ delivered: true, status: 204 });
    eventId = tested.event_id;
    const [request] = received;
    if (request === undefined) throw new Error("the webhook received nothing");
    expect(new Webhook(added.secret).verify(request.body, request.headers)).toMatchObject({ type: "webhook.test" });
    const [tried] = await json(["webhook", "deliveries", added.id]);
    expect(tried).toMatchObject({ event_id: eventId, outcome: "delivered", status: 204, attempt: 1 });
  }, 90_000);

  it("disable and enable a webhook, and replay sent and missed events", async () => {
    await json(["webhook", "disable", added.id]);
    const [disabled] = await json(["webhook", "list", "--workspace", workspaceId]);
    expect(disabled).toMatchObject({ id: added.id, state: "disabled", disabled_reason: "disabled by the operator" });
    expect(JSON.stringify(disabled)).not.toContain("whsec_");
    await json(["webhook", "enable", added.id]);
    expect(await json(["webhook", "replay", eventId, added.id])).toMatchObject({ queued: 1, endpoints: [added.id] });
    expect(await json(["webhook", "replay", added.id, "--failed"])).toMatchObject({ queued: 0 });
  }, 90_000);

  it("rotate a webhook's secret, and remove it", async () => {
    expect((await json(["webhook", "rotate", added.id])).secret).not.toBe(added.secret);
    const shown = await host.parley(["webhook", "list"], env);
    expect(shown.stdout).toContain(added.id);
    await json(["webhook", "remove", added.id]);
    expect(await json(["webhook", "list"])).toEqual([]);
  }, 90_000);

  it("report invalid arguments", async () => {
    const wrong = async (...args: readonly string[]) => host.parley(["webhook", ...args], env);
    const url2 = await wrong("add", "--workspace", workspaceId, "--url", "http://10.0.0.1/");
    expect(url2).toMatchObject({ status: 1, stderr: expect.stringContaining("outbound.allow_private") });
    const events = await wrong("add", "--workspace", workspaceId, "--url", url, "--events", "conversation.ended");
    expect(events).toMatchObject({ status: 1, stderr: expect.stringContaining("the types are conversation.started") });
    expect(await wrong("replay", "whe_x")).toMatchObject({ status: 2 });
    expect(await wrong("remove", "whe_x")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("webhook list"),
    });
  }, 90_000);
});
