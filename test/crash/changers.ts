import { expect } from "vitest";
import { eventTypes } from "#domain/event-types.ts";
import type { OpenStore } from "#database/open.ts";
import { readWorkspace } from "#database/queries/workspaces.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { listTeams } from "#admin/team/teams.ts";
import type { FakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import type { AgentSession } from "../support/program/administrator.ts";
import type { Installation } from "../support/program/installation.ts";

/** A change that was requested. Without an answer the program was killed, and may have made the change or not. */
export interface Requested {
  readonly entry: string;
  isAnswered: boolean;
}

/** An entry of the audit log, of one kind of thing. */
export interface Entry {
  readonly action: string;
  readonly detail: string | null;
  readonly to_value: string | null;
}

export interface World {
  readonly store: OpenStore;
  readonly secrets: Secrets;
  readonly telegram: FakeTelegram;
  readonly installation: Installation;
  readonly admin: AgentSession;
  readonly url: string;
  readonly random: () => number;
  /** Requests a change, whose audit entry begins like this. Rejects when the program is killed meanwhile. */
  change(entry: string, method: string, path: string, body?: unknown): Promise<unknown>;
  readonly requested: readonly Requested[];
  /** Every entry of the audit log whose action begins like this, oldest first. */
  entries(subject: string): Promise<readonly Entry[]>;
}

/** Changes one kind of thing, again and again, and checks what is stored of it. */
export interface Changer {
  readonly subject: string;
  changeOnce(world: World): Promise<void>;
  /** Compares the stored state with the audit log. `isSettled`: no work is left. */
  verify(world: World, entries: readonly Entry[], isSettled: boolean): Promise<void>;
}

/** The last entry of each thing by its name, without those that were removed. */
function lasting(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  const last = new Map(entries.map((entry) => [entry.detail ?? "", entry]));
  return new Map([...last].filter(([, { action }]) => !action.endsWith("_removed")));
}

/** Adds API keys, gives some a lower limit, and revokes some. */
export function keys(): Changer {
  let number = 0;
  return {
    subject: "api_key",
    async changeOnce({ random, change }) {
      number += 1;
      const name = `Key ${number}`;
      const { id } = (await change(`api_key_added ${name} `, "POST", "keys", { name })) as { readonly id: string };
      const chosen = random();
      if (chosen < 0.7) await change(`api_key_revoked ${name} `, "DELETE", `keys/${id}`);
      else if (chosen < 0.9) {
        const next = `${name} renamed`;
        await change(`api_key_changed ${next} ${next},`, "PATCH", `keys/${id}`, { name: next });
      }
    },
    async verify({ store }, entries) {
      const rows = await store.read.selectFrom("api_keys").selectAll().where("name", "like", "Key %").execute();
      const of = (action: string) => entries.filter((entry) => entry.action === action).map(({ detail }) => detail);
      const renamed = of("api_key_changed");
      const added = of("api_key_added").map((name) => (renamed.includes(`${name} renamed`) ? `${name} renamed` : name));
      expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(added));
      const revoked = rows.filter(({ revoked_at: at }) => at !== null).map(({ name }) => name);
      expect(new Set(revoked)).toEqual(new Set(of("api_key_revoked")));
    },
  };
}

/** Adds webhooks, changes their event types, disables and removes them. */
export function webhooks(): Changer {
  let number = 0;
  return {
    subject: "webhook",
    async changeOnce({ random, change }) {
      number += 1;
      const url = `http://127.0.0.1:9/${number}/`;
      const all = { url, events: [...eventTypes] };
      const { id } = (await change(`webhook_added ${url} `, "POST", "webhooks", all)) as { readonly id: string };
      const events = ["message.created"];
      const changed = { events, enabled: false };
      // Two entries of one change, so that the types alone or the state alone would be half of it.
      if (random() < 0.5) {
        await change(`webhook_changed ${url} ${url} (message.created)`, "PATCH", `webhooks/${id}`, changed);
      }
      if (random() < 0.8) await change(`webhook_removed ${url} `, "DELETE", `webhooks/${id}`);
    },
    async verify({ store }, entries) {
      const rows = await store.read.selectFrom("webhooks").selectAll().where("managed_by", "=", "operator").execute();
      const last = lasting(entries);
      const used = rows.filter(({ disabled_reason: reason }) => reason !== "it is being removed");
      expect(new Set(used.map(({ url }) => url))).toEqual(new Set(last.keys()));
      for (const { url, events, disabled_at: disabledAt } of used) {
        const isChanged = last.get(url)?.action === "webhook_changed";
        const types = (JSON.parse(events) as readonly string[]).length;
        expect([url, types, disabledAt !== null]).toEqual([url, isChanged ? 1 : eventTypes.length, isChanged]);
      }
    },
  };
}

/** Adds teams with a member, renames them without, and removes some. */
export function teams(member: { readonly id: string }): Changer {
  let number = 0;
  return {
    subject: "team",
    async changeOnce({ random, change }) {
      number += 1;
      const name = `Team ${number}`;
      const given = { name, agent_ids: [member.id] };
      const { id } = (await change(`team_added ${name} `, "POST", "teams", given)) as { readonly id: string };
      if (random() < 0.3) return;
      const next = `${name} empty`;
      const changed = { name: next, agent_ids: [] };
      await change(`team_changed ${next} ${next}, 0 agents`, "PATCH", `teams/${id}`, changed);
      // Few are left, because their number is limited.
      if (random() < 0.8) await change(`team_removed ${next} `, "DELETE", `teams/${id}`);
    },
    async verify({ store, installation }, entries) {
      const stored = await listTeams(store.read, installation.workspaceId);
      const of = (action: string) => entries.filter((entry) => entry.action === action).map(({ detail }) => detail);
      const [changed, removed] = [of("team_changed"), of("team_removed")];
      const expected = of("team_added").flatMap((name) => {
        if (removed.includes(`${name} empty`)) return [];
        return changed.includes(`${name} empty`) ? [`${name} empty: 0`] : [`${name}: 1`];
      });
      expect(new Set(stored.map(({ name, agentIds }) => `${name}: ${agentIds.length}`))).toEqual(new Set(expected));
      const members = await store.read.selectFrom("team_members").select("team_id").execute();
      const ids = new Set(stored.map(({ id }) => id));
      expect(members.filter(({ team_id: id }) => !ids.has(id))).toEqual([]);
    },
  };
}

/** Adds rules, changes their words, and removes them. */
export function rules(): Changer {
  let number = 0;
  return {
    subject: "rule",
    async changeOnce({ random, change }) {
      number += 1;
      const name = `Rule ${number}`;
      // oxlint-disable-next-line unicorn/no-thenable -- the key of a rule, no promise
      const rule = { name, when: { message: "customer" }, if: { words: ["never said"] }, then: [{ tag: ["x"] }] };
      await change(`rule_added ${name} {`, "POST", "rules", rule);
      const path = `rules/${encodeURIComponent(name)}`;
      if (random() < 0.5) {
        // oxlint-disable-next-line unicorn/no-thenable -- the key of a rule, no promise
        await change(`rule_changed ${name} {`, "PATCH", path, { then: [{ tag: ["y"] }] });
      }
      // Few are left, because their number is limited.
      if (random() < 0.8) await change(`rule_removed ${name} `, "DELETE", path);
    },
    async verify({ store, installation }, entries) {
      const { settings } = (await readWorkspace(store.read, installation.workspaceId)) ?? {};
      const changed = new Set(entries.filter(({ action }) => action === "rule_changed").map(({ detail }) => detail));
      const expected = [...lasting(entries).keys()].filter((name) => name.startsWith("Rule "));
      const stored = settings?.rules.map(({ name, actions }) => `${name}: ${JSON.stringify(actions).includes('"y"')}`);
      expect(stored?.toSorted()).toEqual(expected.map((name) => `${name}: ${changed.has(name)}`).toSorted());
    },
  };
}
