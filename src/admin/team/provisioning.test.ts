import { canPause, listAccounts } from "#admin/channels/list-accounts.ts";
import { expect, it } from "vitest";
import type { FileWorkspace } from "#config/workspace.ts";
import { readConfigFile } from "#config/file.ts";
import { accountIn } from "#admin/channels/accounts.ts";
import { readStored, requireOwn } from "#admin/settings/change.ts";
import { readSignInSettings } from "#admin/sign-in/settings.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { changeAgent, createAgent } from "./agents.ts";
import { changeTeam, createTeam, listTeams, removeTeam } from "./teams.ts";

const by = systemActor("test");

eachDatabase("teams, sign-in and pauses of the configuration file", (open) => {
  it("are the file's until it no longer declares them", async () => {
    const first = await openBench(open);
    const { store, clock } = first;
    const workspaceId = first.workspaceId;
    const start = async (given: Partial<FileWorkspace>): Promise<void> => {
      const file = { workspaces: [{ name: "Test", plan: undefined, settings: {}, channels: [], ...given }] };
      await (await openBench(open, { beside: first, clock, file })).close();
    };
    const widget = async () => {
      const rows = store.read.selectFrom("accounts").select("id").where("workspace_id", "=", workspaceId);
      const { id } = await rows.where("channel", "=", "widget").executeTakeFirstOrThrow();
      return (await accountIn(store.read, workspaceId, id)).paused;
    };
    try {
      const anna = { workspaceId, email: "anna@shop.example", name: "Anna", role: "agent" } as const;
      const { id: agentId } = await createAgent(store, clock, anna);
      await createTeam(store, clock, { workspaceId, by, name: "Own" });
      const agents = ["anna@shop.example", "ben@shop.example"];
      const declared = {
        teams: [{ name: "Billing", agents }],
        secondFactorRequired: true,
        pausedChannels: ["widget"],
      };
      await start(declared);
      await start(declared);
      const [billing, own] = await listTeams(store.read, workspaceId);
      if (billing === undefined || own === undefined) throw new Error("no teams");
      expect(billing).toMatchObject({
        managedBy: "file",
        agentIds: [agentId],
        expectedAgents: ["ben@shop.example"],
      });
      expect(own).toMatchObject({ name: "Own", managedBy: "dashboard" });
      expect([await readSignInSettings(store.read, workspaceId), await widget()]).toEqual([
        { secondFactorRequired: true },
        1,
      ]);
      const entries = store.read.selectFrom("audit").select("action").where("actor_id", "=", "configuration file");
      expect((await entries.orderBy("action").execute()).map(({ action }) => action)).toEqual([
        "channel_changed",
        "sign_in_changed",
        "team_added",
      ]);

      const refusal = { code: "managed_by_file" };
      await expect(changeTeam(store, clock, billing.id, { workspaceId, by, name: "X" })).rejects.toMatchObject(refusal);
      await expect(removeTeam(store, clock, billing.id, { workspaceId, by })).rejects.toMatchObject(refusal);
      const edit = { workspaceId, agentId, by };
      await expect(changeAgent(store, clock, edit, { teamIds: [] })).rejects.toMatchObject(refusal);
      await changeAgent(store, clock, edit, { teamIds: [billing.id, own.id] });
      const stored = await readStored(store.read, workspaceId);
      for (const name of ["secondFactorRequired", "pausedChannels"] as const) {
        expect(() => requireOwn(stored, name, name)).toThrow("managed by the configuration file");
      }
      const pausable = async () =>
        (await listAccounts(store, workspaceId, clock.now())).flatMap((row) => (canPause(row) ? [row.channel] : []));
      expect(await pausable()).toEqual(["telegram"]);

      await start({});
      expect((await pausable()).toSorted()).toEqual(["hosted", "telegram", "widget"]);
      expect((await listTeams(store.read, workspaceId)).map(({ managedBy }) => managedBy)).toEqual([
        "dashboard",
        "dashboard",
      ]);
      expect([await readSignInSettings(store.read, workspaceId), await widget()]).toEqual([
        { secondFactorRequired: true },
        1,
      ]);
      await removeTeam(store, clock, billing.id, { workspaceId, by });
    } finally {
      await first.close();
    }
  });
});

it("reports paused channels that cannot be paused, and teams that are named twice", () => {
  const content = [
    "workspaces:",
    "  - name: Test",
    "    teams: [{name: A}, {name: A}]",
    "    channels: [{name: slack, channel: slack}]",
    "    desk: {kind: slack, account: slack, channel: C0123456789}",
    "    paused_channels:",
    "      - web",
    "      - slack",
  ].join("\n");
  const read = () => readConfigFile("parley.yaml", content, {});
  expect(read).toThrow(/line 3: two teams are named "A"/);
  expect(read).toThrow(/line 7: no channel is named web; use slack, hosted, widget/);
  expect(read).toThrow(/line 8: the agents' desk is on slack/);
});
