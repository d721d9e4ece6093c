import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkDeclaredChannels } from "#app/channels/declared-channels.ts";
import { readConfigFile } from "#config/file.ts";
import type { Me } from "#http/inbox/wire.ts";
import { channelLabel, setChannelLabels } from "#web/inbox/ui/channel-labels.ts";
import { sampleTarget } from "#test/support/channels/sample-platform.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { signInTeam } from "#test/support/http/inbox.ts";

// Runs as adapters/sample/test/known-everywhere.test.ts in a copy of the project.

/** A configuration file that declares one account of this channel. JSON is YAML. */
const fileWith = (account: object): string =>
  JSON.stringify({ workspaces: [{ name: "Shop", channels: [{ name: "chat", ...account }] }] });

describe("an added channel", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(newSqlite);
  });
  afterAll(() => app.close());

  it("appears in the schema of the configuration file", () => {
    const { workspaces } = readConfigFile("parley.yaml", fileWith({ channel: "sample" }), {});
    expect(workspaces[0]?.channels[0]?.channel).toBe("sample");
    expect(() => readConfigFile("parley.yaml", fileWith({ channel: "samples" }), {})).toThrow(/one of .*, sample, /);
    expect(readFileSync("config/schema.json", "utf8")).toContain('"sample"');
  });

  it("is checked by doctor", async () => {
    const platform = await sampleTarget.start();
    const dataDir = await mkdtemp(join(tmpdir(), "parley-sample-"));
    const doctor = async (account: object) =>
      checkDeclaredChannels(
        {
          host: "127.0.0.1",
          port: 0,
          publicUrl: "https://parley.test",
          dataDir,
          secret: undefined,
          databaseUrl: `sqlite:${join(dataDir, "doctor.sqlite")}`,
          redisUrl: undefined,
          role: "all",
          logLevel: "silent",
          trustedProxies: [],
          metricsToken: undefined,
          file: readConfigFile("parley.yaml", fileWith({ channel: "sample", ...account }), {}),
          killAt: undefined,
        },
        false,
        { clock: createHandMovedClock(1_900_000_000_000), log: pino({ level: "silent" }) },
      );
    try {
      expect(await doctor(platform.config)).toEqual([
        {
          name: "channel chat",
          ok: true,
          detail: expect.stringMatching(/^the sample bot, https:\/\/parley\.test\/channels\/sample\/ACCOUNT/),
        },
      ]);
      expect(await doctor({ ...platform.config, token: "another" })).toMatchObject([
        { ok: false, detail: "the platform does not know this token: set `token`" },
      ]);
      expect(await doctor({ url: platform.config["url"], token: "another" })).toMatchObject([
        { ok: false, detail: expect.stringContaining("signing_secret is required: What deliveries are signed with") },
      ]);
    } finally {
      await platform.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  it("has its label in the inbox", async () => {
    const { anna } = await signInTeam(app);
    setChannelLabels(((await anna.get("me")).body as Me).channels);
    expect(channelLabel("sample")).toBe("Sample chat");
  });

  it("appears as a filter in the API and its reference", async () => {
    const list = `/v1/conversations?workspace_id=${app.workspace.id}&channel=`;
    expect((await app.get(`${list}sample`)).status).toBe(200);
    expect((await app.get(`${list}samples`)).status).toBe(422);
    expect(JSON.stringify((await app.get("/openapi.json")).body)).toContain('"sample"');
  });
});
